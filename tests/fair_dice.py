#!/usr/bin/env python3
"""Checks the fair dice of croupier, independently of the server: written from docs/fair-dice.md and
docs/proof.md alone, with Python's standard library alone.

  fair_dice.py vectors tests/vectors/fair-dice.json    the frozen test vectors
  fair_dice.py game FILE...                            finished games, one event a line
  fair_dice.py tampered FILE...                        the same games, changed: each must be caught
  fair_dice.py proof FILE...                           proof bundles: form, chain, seal and dice
      --key HEX           the public key that must have sealed
      --seed SEAT=TEXT    a seed I know I gave; may repeat
      --commitment HEX    the promise I was shown
  fair_dice.py flipped FILE...                         the same bundles, each byte changed: each must be caught
"""

import argparse
import functools
import hashlib
import hmac
import json
import os
import re
import struct
import sys
import uuid
from collections import namedtuple

PURPOSES = {"dice": 1, "colours": 2, "market": 3, "grants": 4}


class Unfair(Exception):
    """What is wrong, in one sentence."""


class Unreadable(Exception):
    """Why it cannot be judged, in one sentence."""


# What somebody knows from elsewhere; nothing of it is needed. Seeds are pairs of seat and text.
Known = namedtuple("Known", "game commitment seeds key", defaults=(None, None, (), None))


# --- the primitives -------------------------------------------------------------------------


def tagged_hash(tag, *parts):
    return hashlib.sha256(tag.encode() + b"\0" + b"".join(parts)).digest()


def hkdf(secret, salt, info):
    """HKDF-SHA256 (RFC 5869) for 32 bytes: one block of output."""
    extracted = hmac.new(salt, secret, hashlib.sha256).digest()
    return hmac.new(extracted, info + b"\x01", hashlib.sha256).digest()


def chacha20_words(key, stream):
    """The words of ChaCha20 with a 64-bit block counter from 0 and a 64-bit stream number."""
    constants = struct.unpack("<4I", b"expand 32-byte k")
    counter = 0
    while True:
        start = [*constants, *struct.unpack("<8I", key), *struct.unpack("<4I", struct.pack("<QQ", counter, stream))]
        state = list(start)
        for _ in range(10):
            for a, b, c, d in (
                (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
                (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
            ):
                quarter_round(state, a, b, c, d)
        yield from ((x + y) & 0xFFFFFFFF for x, y in zip(state, start))
        counter += 1


def quarter_round(s, a, b, c, d):
    for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[x] = (s[x] + s[y]) & 0xFFFFFFFF
        mixed = s[z] ^ s[x]
        s[z] = (mixed << turn | mixed >> (32 - turn)) & 0xFFFFFFFF


# --- the protocol ---------------------------------------------------------------------------


def ruleset_hash(ruleset):
    text = json.dumps(ruleset, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return tagged_hash("croupier/ruleset/1", text.encode())


def commitment(secret, game, rules):
    return tagged_hash("croupier/commitment/1", uuid.UUID(game).bytes, rules, secret)


def seeds_hash(seeds):
    entries = [(seed or "").encode() for seed in seeds]
    return tagged_hash("croupier/seeds/1", *(bytes([len(entry)]) + entry for entry in entries))


def dice_key(secret, seeds, game, rules):
    return hkdf(secret, seeds, b"croupier/dice-key/1\0" + uuid.UUID(game).bytes + rules)


def draw(key, purpose, number, sides, count):
    # Beyond this no word would ever be below the limit.
    if not 1 <= sides <= 2**32:
        raise Unfair(f"draw {number} has {sides} sides, expected 1 to 2^32")
    words = chacha20_words(key, (purpose << 56) + number)
    limit = 2**32 - 2**32 % sides
    fair = (word % sides + 1 for word in words if word < limit)
    return [next(fair) for _ in range(count)]


def pick(weights, ticket):
    for entry, weight in enumerate(weights):
        if ticket <= weight:
            return entry
        ticket -= weight
    raise Unfair("a ticket beyond the last entry")


# --- checking -------------------------------------------------------------------------------


def check_game(events, known=Known()):
    """Draws every roll of a finished game again; gives how many there are."""
    if not events or "Created" not in events[0]:
        raise Unfair("these events do not begin with Created")
    # Behind the end there can only be that the game was made void.
    last = events[-2] if "Voided" in events[-1] and len(events) > 1 else events[-1]
    if "SeedRevealed" not in last:
        raise Unfair("the secret is not revealed yet")
    created, game = events[0]["Created"], events[0]["Created"]["game"]
    if known.game and game != known.game:
        raise Unfair(f"Created is of another game: expected {known.game}, found {game}")
    if known.commitment and created["commitment"] != known.commitment:
        raise Unfair(f"another commitment than you were shown: expected {known.commitment}, found {created['commitment']}")
    secret = hex_bytes(last["SeedRevealed"]["secret"], 32, "the secret: ")
    rules = ruleset_hash(created["ruleset"])
    if rules.hex() != created["ruleset_hash"]:
        raise Unfair(f"the rules are not the ones that were hashed: expected {created['ruleset_hash']}, found {rules.hex()}")
    promise = commitment(secret, game, rules).hex()
    if promise != created["commitment"]:
        raise Unfair(
            "the revealed secret is not the one that was committed to: "
            f"expected a commitment {created['commitment']}, found {promise}"
        )
    seeds, loadouts, key, rolls = {}, {}, None, 0
    things = Things(created["ruleset"])
    for event in events[1:]:
        (kind, fields), = event.items()
        if kind == "Created":
            raise Unfair("the game is created twice")
        if kind in ("SeatTaken", "SeedChosen", "Started") and key:
            raise Unfair(f"{kind} after the seeds were sealed")
        if kind == "SeatTaken" or (kind == "SeatLeft" and not key):
            seeds[fields["seat"]] = None
            loadouts.pop(fields["seat"], None)
        elif kind == "LoadoutChosen":
            loadouts[fields["seat"]] = fields["dice"]
        elif kind == "SeedChosen":
            seeds[fields["seat"]] = fields["seed"]
        elif kind == "Started":
            sealed = seeds_hash(seeds[seat] for seat in sorted(seeds))
            if sealed.hex() != fields["seeds"]:
                raise Unfair(f"the seeds of the seats are not the ones that were sealed: expected {fields['seeds']}, found {sealed.hex()}")
            check_known_seeds(seeds, known.seeds)
            key = dice_key(secret, sealed, game, rules)
        elif kind == "Rolled":
            if not key:
                raise Unfair("a roll before the seeds were sealed")
            rolls += 1
            check_roll(key, rolls, fields, created["ruleset"], loadouts.get(fields["seat"]), things.loaded())
            check_colours(key, rolls, fields, created["ruleset"], things)
        elif kind == "Drawn":
            if not key:
                raise Unfair("something came up before the seeds were sealed")
            things.check_drawn(key, fields)
        things.follow(kind, fields)
    if known.seeds and not key:
        raise Unfair("expected your seed in the dice, found a game that never started")
    return rolls


def check_known_seeds(seeds, known):
    for seat, text in known:
        if seeds.get(seat) != text:
            raise Unfair(f"the seed of seat {seat} is another than you gave: expected {text!r}, found {seeds.get(seat)!r}")


def same(found, expected):
    """Python takes true for 1; JSON does not."""
    return json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)


class Things:
    """What else comes up at random depends on what players have: colours, consumables and cards."""

    def __init__(self, ruleset):
        self.parameters = ruleset["parameters"]
        self.numbers = {"market": 0, "grants": 0}
        self.purchases, self.active = {}, set()
        self.market, self.held, self.out = {}, {}, set()

    def follow(self, kind, fields):
        if kind == "SeatLeft":
            self.out.add(fields["seat"])
        elif kind == "SeatTaken":
            self.out.discard(fields["seat"])
        elif kind == "Drawn" and "place" in fields:
            self.market[fields["place"]] = fields["item"]
        elif kind == "EffectApplied":
            seat, source = fields["seat"], fields["source"]
            if source == "renewed":
                self.market = {}
            elif isinstance(source, dict) and "bought" in source:
                self.market = {place: card for place, card in self.market.items() if card != source["bought"]}
            for change in fields["changes"]:
                self.changed(seat, change["what"], change["after"])

    def changed(self, seat, what, after):
        if what == "alive" and not after:
            self.out.add(seat)
        elif isinstance(what, dict):
            (measure, code), = what.items()
            if measure == "purchases":
                self.purchases[code] = after
            elif measure == "active":
                (self.active.add if after else self.active.discard)(code)
            elif measure == "held":
                self.held.setdefault(seat, set()).add(code)

    def loaded(self):
        """The sides of the dice that a consumable has loaded."""
        for item in self.parameters.get("consumables", []):
            if item["code"] in self.active and isinstance(item["effect"], dict) and "sides" in item["effect"]:
                return item["effect"]["sides"]
        return None

    def odds(self, index, colour):
        """1 in how many; nothing before the first purchase. Each further one halves it, rounded up."""
        bought = self.purchases.get(colour, 0)
        odds = self.parameters["colour_table"][index]["odds"]
        # 64 halvings make 1 of all odds there can be: whatever a file says, this ends.
        for _ in range(min(bought - 1, 64)):
            odds = -(-odds // 2)
        return max(odds, self.parameters["best_odds"]) if bought else None

    def coin_called(self):
        """Whether a consumable waits for a coin."""
        effects = {item["code"]: item["effect"] for item in self.parameters["consumables"]}
        return any(isinstance(effects.get(code), dict) and "multiply_or_nothing" in effects[code] for code in self.active)

    def choices(self, purpose):
        """What could come up: a card that lies nowhere, a consumable, a side of a coin."""
        if purpose == "grants":
            return ["heads", "tails"] if self.coin_called() else [item["code"] for item in self.parameters["consumables"]]
        gone = set(self.market.values()).union(*(held for seat, held in self.held.items() if seat not in self.out))
        return [card["code"] for card in self.parameters["cards"] if card["code"] not in gone]

    def check_drawn(self, key, drawn):
        purpose = drawn["draw"]["purpose"]
        if purpose not in self.numbers:
            raise Unfair(f"{drawn['item']} came up by a draw of {purpose}")
        self.numbers[purpose] += 1
        things = self.choices(purpose)
        expected = {"purpose": purpose, "number": self.numbers[purpose], "sides": len(things)}
        raw, = draw(key, PURPOSES[purpose], expected["number"], expected["sides"], 1)
        if not same([drawn["draw"], drawn["raw"], drawn["item"]], [expected, raw, things[raw - 1]]):
            raise Unfair(f"{drawn['item']} came up by {drawn['draw']}, but the seeds give {things[raw - 1]} by {expected}")


COLOURS = ["blue", "green", "red", "purple", "yellow"]


def check_colours(key, number, roll, ruleset, things):
    """Every colour that was bought is tried on every die of the roll; the first hit wins."""
    if ruleset["game"] != "dice_rogue" or not ruleset["parameters"]["colours"]:
        if "colours" in roll:
            raise Unfair(f"roll {number} has colours in a game without")
        return
    codes, draws = ["STANDARD"] * len(roll["slots"]), []
    for index, colour in enumerate(COLOURS):
        odds = things.odds(index, colour)
        if odds is None:
            continue
        which = {"purpose": "colours", "number": (number - 1) * 5 + index + 1, "sides": odds}
        raw = draw(key, PURPOSES["colours"], which["number"], odds, len(codes))
        draws.append({"code": colour.upper(), "draw": which, "raw": raw})
        codes = [colour.upper() if code == "STANDARD" and hit == 1 else code for code, hit in zip(codes, raw)]
    expected = {"codes": codes, "draws": draws} if draws else None
    if not same(roll.get("colours"), expected):
        raise Unfair(f"the colours of roll {number} are {roll.get('colours')}, but the seeds give {expected}")


def check_roll(key, number, roll, ruleset, loadout, loaded):
    """One value of six a die, drawn for dice, the next number, shown as the die's faces say; True Grit draws one ticket."""
    weights = true_grit_weights(ruleset["parameters"]) if ruleset["game"] == "true_grit" else None
    sides, count = (sum(weights), 1) if weights else (6, len(roll["slots"]))
    expected = draw(key, PURPOSES["dice"], number, sides, count)
    if not same([roll["draw"], roll["raw"]], [{"purpose": "dice", "number": number, "sides": sides}, expected]):
        raise Unfair(f"roll {number} is {roll['raw']} of {roll['draw']}, but the seeds give {expected}")
    if weights:
        entry = pick(weights, expected[0])
        shown = [entry // 6 + 1, entry % 6 + 1]
    else:
        plain_sides = loaded or [1, 2, 3, 4, 5, 6]
        faces = special_faces(ruleset["parameters"])
        codes = [loadout[slot] if loadout else "STANDARD" for slot in roll["slots"]]
        shown = [faces.get(code, plain_sides)[raw - 1] for code, raw in zip(codes, expected)]
    if not same(roll["faces"], shown):
        raise Unfair(f"roll {number} fell as {expected} and shows {roll['faces']}, not {shown}")


def special_faces(parameters):
    """The faces of the special dice that have their own."""
    dice = (parameters.get("catalogue") or {"dice": []})["dice"]
    return {die["code"]: die["effect"]["faces"] for die in dice if die["effect"]["kind"] == "faces"}


def true_grit_weights(parameters):
    """The tickets of the 36 rolls of two dice, the first die counting sixes."""
    single_one = [(n // 6 == 0) != (n % 6 == 0) for n in range(36)]
    return [parameters["single_one_weight"] if single else parameters["other_weight"] for single in single_one]


def plain(line):
    """An event as the log has it, alone or as `croupier export` writes it."""
    if "Created" in line or "payload" not in line:
        return line
    payload = line["payload"]
    return {line["type"]: json.loads(payload) if isinstance(payload, str) else payload}


def check_vectors(vectors):
    """Compares every frozen vector; gives how many there are."""
    unhex = bytes.fromhex
    computed = {
        "rulesets": lambda v: (ruleset_hash(v["ruleset"]).hex(), v["hash"]),
        "commitments": lambda v: (
            commitment(unhex(v["secret"]), v["game"], unhex(v["ruleset_hash"])).hex(),
            v["commitment"],
        ),
        "seeds": lambda v: (seeds_hash(v["seeds"]).hex(), v["hash"]),
        "keys": lambda v: (
            dice_key(unhex(v["secret"]), unhex(v["seeds_hash"]), v["game"], unhex(v["ruleset_hash"])).hex(),
            v["key"],
        ),
        "draws": lambda v: (
            draw(unhex(v["key"]), v["purpose"], v["number"], v["sides"], len(v["values"])),
            v["values"],
        ),
        "weighted": lambda v: (
            ([pick(v["weights"], ticket + 1) for ticket in range(len(v["picks"]))], pick(v["weights"], sum(v["weights"]))),
            (v["picks"], v["last"]),
        ),
    }
    if set(computed) != set(vectors):
        raise Unfair(f"the file has {sorted(vectors)}, this program checks {sorted(computed)}")
    for kind, entries in vectors.items():
        for number, vector in enumerate(entries):
            found, expected = computed[kind](vector)
            if found != expected:
                raise Unfair(f"{kind}[{number}]: computed {found}, the file says {expected}")
    return sum(map(len, vectors.values()))


def check_that_tampering_shows(events):
    """A verifier that accepts everything would pass every other test."""
    def index(kind):
        return next(n for n, event in enumerate(events) if kind in event)


    def change(index, path, value):
        def alter(copy):
            target = copy[index]
            for key in path[:-1]:
                target = target[key]
            target[path[-1]] = value

        return alter

    def insert(index, event):
        return lambda copy: copy.insert(index, event)

    rolled, started = index("Rolled"), index("Started")
    face = events[rolled]["Rolled"]["raw"][0]
    tampering = [
        change(rolled, ["Rolled", "raw", 0], face % 6 + 1),
        change(rolled, ["Rolled", "faces"], [1, 1, 1, 1, 1, 1]),
        change(rolled, ["Rolled", "raw"], events[rolled]["Rolled"]["raw"][:2]),
        change(rolled, ["Rolled", "draw", "number"], 2),
        change(rolled, ["Rolled", "draw", "sides"], 1),
        change(rolled, ["Rolled", "draw", "purpose"], "colours"),
        change(index("SeedChosen"), ["SeedChosen", "seed"], "another"),
        change(-1, ["SeedRevealed", "secret"], "00" * 32),
        change(0, ["Created", "ruleset", "version"], 2),
        insert(started + 1, events[started]),
        insert(started + 1, events[index("SeedChosen")]),
        lambda copy: copy.pop(started),
    ]
    if any("Drawn" in event for event in events):
        drawn = index("Drawn")
        tampering += [
            change(drawn, ["Drawn", "item"], "another"),
            change(drawn, ["Drawn", "raw"], 99),
            change(drawn, ["Drawn", "draw", "number"], 7),
        ]
    coloured = [n for n, event in enumerate(events) if "colours" in event.get("Rolled", {})]
    for n in coloured[:1]:
        tampering += [
            change(n, ["Rolled", "colours", "codes", 0], "PINK"),
            change(n, ["Rolled", "colours", "draws", 0, "draw", "sides"], 1),
            lambda copy: copy[n]["Rolled"].pop("colours"),
        ]
    for number, alter in enumerate(tampering, start=1):
        copy = json.loads(json.dumps(events))
        alter(copy)
        try:
            check_game(copy)
        except Unfair:
            continue
        raise Unfair(f"tampering {number} is not seen")
    return len(tampering)


# --- the proof bundle: its form ---------------------------------------------------------------


def hex_bytes(value, size, what=""):
    if not isinstance(value, str) or not re.fullmatch(f"[0-9a-f]{{{2 * size}}}", value):
        raise Unreadable(f"{what}expected {2 * size} lower-case hexadecimal digits, found {value!r}")
    return bytes.fromhex(value)


def digest(value):
    return hex_bytes(value, 32)


def digests(value):
    if not isinstance(value, list):
        raise Unreadable(f"expected a list, found {value!r}")
    return [digest(entry) for entry in value]


def signature_bytes(value):
    return hex_bytes(value, 64)


def whole_number(value, bits=64):
    # True is an int to Python.
    if type(value) is not int or not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise Unreadable(f"expected a whole number of {bits} bits, found {value!r}")
    return value


def short_number(value):
    return whole_number(value, 16)


def a_text(value):
    if not isinstance(value, str):
        raise Unreadable(f"expected a text, found {value!r}")
    return value


def identity(value):
    if not re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", a_text(value)):
        raise Unreadable(f"expected a UUID in lower case, found {value!r}")
    return value


def seal_fields(value):
    return take(value, SEAL)


# The keys of each object in their order, and what stands behind them.
HEADER = {"croupier_proof": whole_number, "game": identity, "events": whole_number}
EVENT = {
    "stream": identity, "version": whole_number, "type": a_text, "schema": short_number, "recorded_at": whole_number,
    "command": identity, "actor": identity, "payload": a_text, "hash": digest,
}
SEAL = {
    "shard": whole_number, "number": whole_number, "first_position": whole_number, "last_position": whole_number, "sealed_at": whole_number,
    "root": digest, "previous": digest, "key": digest, "signature": signature_bytes,
}
SEALED = {"seal": seal_fields, "position": whole_number, "path": digests}

# An event of a game can be of these types; all are at schema 1.
TYPES = frozenset(
    """Created SeatTaken SeedChosen LoadoutChosen CharacterChosen SeatLeft Started TurnStarted Rolled Saved Banked
    Farkled EffectApplied MoneyAwarded Drawn Asked Answered TimedOut TurnEnded Ended SeedRevealed Voided
    Ruled""".split()
)

Event = namedtuple("Event", "stream version kind schema recorded_at payload hash hashed")


def take(record, form):
    """The values of an object with these keys in this order, and no others."""
    if not isinstance(record, dict) or list(record) != list(form):
        found = f"one with {', '.join(record) or 'nothing'}" if isinstance(record, dict) else repr(record)
        raise Unreadable(f"expected an object with {', '.join(form)}, found {found}")
    values = {}
    for name, read in form.items():
        try:
            values[name] = read(record[name])
        except Unreadable as wrong:
            raise Unreadable(f"{name}: {wrong}") from None
    return values


def no_fraction(found):
    raise ValueError(f"expected a whole number, found {found}")


def strict_json(found):
    """JSON in its one form: compact, nothing twice, no fractions, nothing escaped that need not be."""
    try:
        value = json.loads(found, parse_float=no_fraction, parse_constant=no_fraction)
        expected = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    except json.JSONDecodeError as wrong:
        raise Unreadable(f"this is no JSON: {wrong.msg} at character {wrong.pos + 1}") from None
    except (ValueError, RecursionError) as wrong:
        raise Unreadable(f"this is no JSON of ours: {wrong}") from None
    if expected != found:
        at = len(os.path.commonprefix([expected, found]))
        raise Unreadable(
            f"this is not in its one form: at character {at + 1} "
            f"expected {expected[at:at + 20]!r}, found {found[at:at + 20]!r}"
        )
    return value


def read_line(line):
    try:
        return strict_json(line.decode())
    except UnicodeDecodeError as wrong:
        raise Unreadable(f"this is no UTF-8: byte {wrong.start + 1}") from None


# To flip every byte of a bundle is to read all its other lines again and again: they are kept, and never changed.
kept = functools.lru_cache(maxsize=4096)


@kept
def read_header(line):
    header = take(read_line(line), HEADER)
    if header["croupier_proof"] != 1 or header["events"] < 1:
        raise Unreadable("expected format 1 and at least 1 event")
    return header


@kept
def read_event(line):
    event = take(read_line(line), EVENT)
    kind, payload = event["type"].encode(), event["payload"].encode()
    hashed = b"".join((
        uuid.UUID(event["stream"]).bytes,
        struct.pack(">qq", event["version"], len(kind)), kind,
        struct.pack(">hq", event["schema"], event["recorded_at"]),
        uuid.UUID(event["command"]).bytes,
        uuid.UUID(event["actor"]).bytes,
        struct.pack(">q", len(payload)), payload,
    ))
    return Event(
        event["stream"], event["version"], event["type"], event["schema"], event["recorded_at"],
        event["payload"], event["hash"], hashed,
    )


@kept
def read_seal(line):
    record = read_line(line)
    return None if record == {"seal": None} else take(record, SEALED)


def at_line(place, read, line):
    try:
        return read(line)
    except Unreadable as wrong:
        raise Unreadable(f"line {place}: {wrong}") from None


def read_bundle(data):
    """The game, its events and what seals them."""
    if not data:
        raise Unreadable("the file is empty")
    begin = re.match(rb'\{"croupier_proof":([0-9]{1,9})\b', data)
    if not begin:
        raise Unreadable("this is no proof bundle; `croupier export GAME --proof` writes one")
    if int(begin[1]) > 1:
        raise Unreadable(f"this is a bundle of format {int(begin[1])}, only format 1 is known here: take a newer fair_dice.py")
    if not data.endswith(b"\n"):
        raise Unreadable("the file is cut off: its last line has no end")
    lines = data[:-1].split(b"\n")
    header = at_line(1, read_header, lines[0])
    expected = header["events"] + 2
    if len(lines) != expected:
        why = "the file is cut off" if len(lines) < expected else "there is more than a bundle in the file"
        raise Unreadable(f"{why}: expected {expected} lines, for {header['events']} events, found {len(lines)}")
    events = [at_line(place, read_event, line) for place, line in enumerate(lines[1:-1], start=2)]
    return header["game"], events, at_line(expected, read_seal, lines[-1])


# --- the proof bundle: the chain and the seal ---------------------------------------------------


def check_envelopes(game, events):
    """Each event is of this game, at its place, not before the one before, and of a kind we know."""
    last = events[0].recorded_at
    for place, event in enumerate(events, start=1):
        if event.stream != game:
            raise Unfair(f"event {place} is of another stream: expected {game}, found {event.stream}")
        if event.version != place:
            raise Unfair(f"event {place} is not at its place: expected version {place}, found {event.version}")
        if event.recorded_at < last:
            raise Unfair(f"time runs backwards at event {place}: expected {last} or later, found {event.recorded_at}")
        if event.kind not in TYPES or event.schema != 1:
            raise Unreadable(
                f"event {place} is of type {event.kind!r}, schema {event.schema}, "
                "which are not known here: take a newer fair_dice.py, if there is one"
            )
        last = event.recorded_at


def check_chain(events):
    """Each hash covers its event and the hash before; gives the last one."""
    previous = bytes(32)
    for event in events:
        expected = tagged_hash("croupier/event/1", event.hashed, previous)
        if event.hash != expected:
            raise Unfair(
                f"the chain is broken at event {event.version}, it or its hash was changed: "
                f"expected {expected.hex()}, found {event.hash.hex()}"
            )
        previous = expected
    return previous


def check_seal(game, last_hash, sealed, key):
    """The root of a signed seal has the last event in it, where it says."""
    seal, position = sealed["seal"], sealed["position"]
    first, last = seal["first_position"], seal["last_position"]
    shard = hashlib.sha256(uuid.UUID(game).bytes).digest()[0] & 63
    if seal["shard"] != shard:
        raise Unfair(f"the seal is of another shard: expected {shard}, found {seal['shard']}")
    if seal["number"] < 1:
        raise Unfair(f"seals are counted from 1, found {seal['number']}")
    if not 1 <= first <= position <= last:
        raise Unfair(f"the seal does not cover the last event: expected position {first} to {last}, found {position}")
    root = path_root(last_hash, position - first, last - first + 1, sealed["path"])
    if root != seal["root"]:
        raise Unfair(f"the path does not lead to the root of the seal: expected {seal['root'].hex()}, found {root.hex()}")
    check_signature(seal["key"], seal_hash(seal), seal["signature"])
    if key and key != seal["key"].hex():
        raise Unfair(f"sealed by another key: expected {key}, found {seal['key'].hex()}")


def path_root(last_hash, index, size, path):
    """The root of RFC 6962 that a leaf and the nodes beside its way up lead to."""
    on_the_right = []
    while size > 1:
        split = 1 << (size - 1).bit_length() - 1  # the largest power of two below the size
        on_the_right.append(index >= split)
        index, size = (index - split, size - split) if index >= split else (index, split)
    if len(path) != len(on_the_right):
        raise Unfair(f"the path has another length: expected {len(on_the_right)} nodes, found {len(path)}")
    node = hashlib.sha256(b"\0" + last_hash).digest()
    for right, beside in zip(reversed(on_the_right), path):
        node = hashlib.sha256(b"\1" + (beside + node if right else node + beside)).digest()
    return node


def seal_hash(seal):
    numbers = (seal[name] for name in ("shard", "number", "first_position", "last_position", "sealed_at"))
    return tagged_hash("croupier/seal/1", struct.pack(">Bqqqq", *numbers), seal["root"], seal["previous"], seal["key"])


# --- Ed25519 (RFC 8032, 5.1), the strict way ------------------------------------------------------

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
CURVE = -121665 * pow(121666, -1, PRIME) % PRIME
ROOT_OF_MINUS_ONE = pow(2, (PRIME - 1) // 4, PRIME)
NEUTRAL = (0, 1, 1, 0)


def check_signature(key, message, signature):
    """[s]B = R + [k]A without the cofactor; nothing that has two encodings, nothing of small order."""
    public, r, s = decode_point(key), decode_point(signature[:32]), int.from_bytes(signature[32:], "little")
    for name, found in (("the public key", public), ("the R of the signature", r)):
        if found is None:
            raise Unfair(f"{name} is no point of the curve in its one encoding")
        if same_point(multiply(8, found, 0, NEUTRAL), NEUTRAL):
            raise Unfair(f"{name} is of small order: it would fit anything")
    if s >= ORDER:
        raise Unfair("the s of the signature is not below the order of the group")
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    x, y, z, t = public
    if not same_point(multiply(s, BASE, k, (-x, y, z, -t)), r):
        raise Unfair(
            "the seal is not signed by its key: "
            f"expected a signature by {key.hex()} of {message.hex()}, found {signature.hex()}"
        )


def decode_point(encoded):
    """A point as (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z; nothing if it is none."""
    y = int.from_bytes(encoded, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= PRIME:
        return None
    u, v = y * y - 1, CURVE * y * y + 1
    x = u * pow(v, 3, PRIME) * pow(u * pow(v, 7, PRIME), (PRIME - 5) // 8, PRIME) % PRIME
    if (v * x * x - u) % PRIME:
        x = x * ROOT_OF_MINUS_ONE % PRIME
    if (v * x * x - u) % PRIME or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = PRIME - x
    return x, y, 1, x * y % PRIME


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]), (p[1] + p[0]) * (q[1] + q[0])
    c, d = 2 * CURVE * p[3] * q[3], 2 * p[2] * q[2]
    e, f, g, h = (b - a) % PRIME, (d - c) % PRIME, (d + c) % PRIME, (b + a) % PRIME
    return e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME


def same_point(p, q):
    return (p[0] * q[2] - q[0] * p[2]) % PRIME == 0 and (p[1] * q[2] - q[1] * p[2]) % PRIME == 0


def multiply(m, p, n, q):
    """[m]p + [n]q, bit by bit."""
    choices, result = (NEUTRAL, p, q, add(p, q)), NEUTRAL
    for bit in reversed(range(max(m.bit_length(), n.bit_length()))):
        result = add(add(result, result), choices[(m >> bit & 1) + 2 * (n >> bit & 1)])
    return result


BASE = decode_point(b"\x58" + b"\x66" * 31)  # y = 4/5


# --- the proof bundle: everything ----------------------------------------------------------------


def check_proof(data, known=Known()):
    """Checks a bundle, what is cheap first; gives the lines of the report."""
    game, events, sealed = read_bundle(data)
    check_envelopes(game, events)
    last_hash = check_chain(events)
    if sealed:
        check_seal(game, last_hash, sealed, known.key)
    elif known.key:
        raise Unfair(f"not sealed yet: expected a seal of key {known.key}, found none")
    rolls = check_dice([{event.kind: payload_of(event)} for event in events], known._replace(game=game))
    return [
        "✓ commitment, the one you were shown" if known.commitment else "✓ commitment",
        *(f"✓ your seed of seat {seat}" for seat, _ in known.seeds),
        f"✓ {rolls} rolls drawn again",
        f"✓ chain of {len(events)} events",
        *seal_lines(sealed, known.key),
    ]


def check_dice(events, known=Known()):
    try:
        return check_game(events, known)
    # A chain and a seal say nothing about the form of what they hold.
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as wrong:
        raise Unreadable(f"an event does not have the fields of its type: {type(wrong).__name__}, {wrong}") from None


def payload_of(event):
    try:
        payload = strict_json(event.payload)
    except Unreadable as wrong:
        raise Unreadable(f"the payload of event {event.version}: {wrong}") from None
    if not isinstance(payload, dict):
        raise Unreadable(f"the payload of event {event.version}: expected an object, found {payload!r}")
    return payload


def seal_lines(sealed, key):
    if not sealed:
        return ["! not sealed yet"]
    seal = sealed["seal"]
    line = f"✓ seal {seal['number']} of shard {seal['shard']}, key {seal['key'].hex()}"
    return [line] if key else [line, "! give --key to be sure whose seal it is"]


FLIPS = (0x01, 0x02, 0x20, 0x80)


def check_that_flips_show(data):
    """No byte of a bundle may be without meaning; gives how many changes were caught."""
    check_proof(data)
    changed = bytearray(data)
    for at, byte in enumerate(data):
        for flip in FLIPS:
            changed[at] = byte ^ flip
            try:
                check_proof(bytes(changed))
            except (Unfair, Unreadable):
                continue
            raise Unfair(f"byte {at + 1} xor 0x{flip:02x} is not seen")
        changed[at] = byte
    return len(data) * len(FLIPS)


# --- the command line -----------------------------------------------------------------------------


def report(verb, path):
    if verb == "flipped":
        with open(path, "rb") as file:
            return f"{check_that_flips_show(file.read())} flipped bytes caught"
    with open(path, encoding="utf-8") as file:
        if verb == "vectors":
            return f"{check_vectors(json.load(file))} vectors agree"
        events = [plain(json.loads(line)) for line in file if line.strip()]
    if verb == "game":
        return f"fair, {check_dice(events)} rolls drawn again"
    return f"{check_that_tampering_shows(events)} kinds of tampering caught"


def printable(sentence):
    """A file may hold anything: it must not write to the terminal what looks like our words."""
    shown = sentence if len(sentence) <= 1000 else sentence[:1000] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)


def judge(check):
    """What a check says, and the exit code: 1 if something is wrong, 2 if it cannot be judged."""
    try:
        return 0, check()
    except Unfair as wrong:
        return 1, [f"✗ {wrong}"]
    except Unreadable as wrong:
        return 2, [f"! {wrong}"]
    except OSError as wrong:
        return 2, [f"! the file cannot be read: {wrong.strerror}"]
    except ValueError as wrong:
        return 2, [f"! this is no JSON: {wrong}"]


def prove(path, known):
    def check():
        with open(path, "rb") as file:
            return check_proof(file.read(), known)

    code, lines = judge(check)
    print(printable(f"{path}:"), *map(printable, lines), sep="\n")
    return code


def known_hash(given):
    if not re.fullmatch("[0-9a-fA-F]{64}", given):
        raise argparse.ArgumentTypeError(f"expected 64 hexadecimal digits, found {given!r}")
    return given.lower()


def known_seed(given):
    seat, equals, seed = given.partition("=")
    if not re.fullmatch("[0-9]{1,3}", seat) or not seed:
        raise argparse.ArgumentTypeError(f"expected a seat and its seed, such as 0=lucky, found {given!r}")
    return int(seat), seed


def prove_all(arguments):
    """Everything is looked at; the worst decides."""
    parser = argparse.ArgumentParser(prog="fair_dice.py proof", description="Checks proof bundles.", allow_abbrev=False)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--key", type=known_hash, metavar="HEX", help="the public key that must have sealed")
    parser.add_argument("--seed", type=known_seed, metavar="SEAT=TEXT", action="append", default=[], help="a seed I know I gave; may repeat")
    parser.add_argument("--commitment", type=known_hash, metavar="HEX", help="the promise I was shown")
    options = parser.parse_intermixed_args(arguments)
    known = Known(commitment=options.commitment, seeds=options.seed, key=options.key)
    return max([prove(path, known) for path in options.files])


def main(arguments):
    # Where ✓ cannot be written, its number is better than nothing.
    sys.stdout.reconfigure(errors="backslashreplace")
    if arguments[:1] == ["proof"]:
        return prove_all(arguments[1:])
    if len(arguments) < 2 or arguments[0] not in ("vectors", "game", "tampered", "flipped"):
        print(__doc__, file=sys.stderr)
        return 2
    for path in arguments[1:]:
        code, lines = judge(lambda: [report(arguments[0], path)])
        print(printable(f"{path}: {lines[0]}"))
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
