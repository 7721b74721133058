"""Values for our own scalars. Any JSON matches the schema, but most of it is refused."""

import schemathesis
from graphql import ListValueNode, NameNode, ObjectFieldNode, ObjectValueNode
from hypothesis import strategies as st
from schemathesis.graphql import nodes

FIELDS = ["code", "name", "category", "tier", "colour", "price", "description", "effect", "kind", "factor", "faces", "x"]

plain = st.one_of(
    st.text(alphabet="ABCdef 123#_$", max_size=20).map(nodes.String),
    st.integers(-10, 2000).map(nodes.Int),
    st.booleans().map(nodes.Boolean),
    st.just(nodes.Null),
)


def an_object(fields):
    return ObjectValueNode(
        fields=tuple(ObjectFieldNode(name=NameNode(value=name), value=value) for name, value in fields.items())
    )


def nested(inner):
    return st.one_of(
        st.dictionaries(st.sampled_from(FIELDS), inner, max_size=8).map(an_object),
        st.lists(inner, max_size=6).map(lambda items: ListValueNode(values=tuple(items))),
    )


schemathesis.graphql.scalar("JSON", st.recursive(plain, nested, max_leaves=10))


def codes(*known):
    """Codes that exist, and texts that do not."""
    return st.one_of(st.sampled_from(known), st.text(alphabet="ABCdef_-$ 1\u00e9", max_size=20)).map(nodes.String)


schemathesis.graphql.scalar("DieCode", codes("PHOENIX", "HEAVY", "STANDARD", "FARK$"))
schemathesis.graphql.scalar("ItemCode", codes("ion_wyrm", "any_score", "green", "aegis"))
schemathesis.graphql.scalar("PresetName", codes("classic", "standard", "challenge-standard", "custom"))
schemathesis.graphql.scalar("Long", st.integers(-(2**53), 2**53).map(nodes.Int))
