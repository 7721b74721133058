"""What schemathesis cannot know: values of our JSON arguments. Any JSON fits the schema; most of it is refused."""

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
