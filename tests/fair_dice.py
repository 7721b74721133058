#!/usr/bin/env python3
"""Checks the fair dice of croupier, independently of the server: written from docs/fair-dice.md
alone, with Python's standard library alone.

  fair_dice.py vectors tests/vectors/fair-dice.json    the frozen test vectors
  fair_dice.py game FILE...                            finished games, one event a line
  fair_dice.py tampered FILE...                        the same games, changed: each must be caught
"""

import hashlib
import hmac
import json
import struct
import sys
import uuid

PURPOSES = {"dice": 1, "colours": 2, "market": 3, "grants": 4}


class Unfair(Exception):
    """What is wrong, in one sentence."""


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


def check_game(events):
    """Draws every roll of a finished game again; gives how many there are."""
    if not events or "Created" not in events[0]:
        raise Unfair("these events do not begin with Created")
    # Behind the end there can only be that the game was made void.
    last = events[-2] if "Voided" in events[-1] and len(events) > 1 else events[-1]
    if "SeedRevealed" not in last:
        raise Unfair("the secret is not revealed yet")
    created, game = events[0]["Created"], events[0]["Created"]["game"]
    secret = bytes.fromhex(last["SeedRevealed"]["secret"])
    rules = ruleset_hash(created["ruleset"])
    if rules.hex() != created["ruleset_hash"]:
        raise Unfair("the rules are not the ones that were hashed")
    if commitment(secret, game, rules).hex() != created["commitment"]:
        raise Unfair("the revealed secret is not the one that was committed to")
    seeds, loadouts, key, rolls = {}, {}, None, 0
    things = Things(created["ruleset"])
    for event in events[1:]:
        (kind, fields), = event.items()
        if kind in ("Created", "SeatTaken", "SeedChosen", "Started") and key:
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
                raise Unfair("the seeds of the seats are not the ones that were sealed")
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
    return rolls


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
        for _ in range(bought - 1):
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
        if drawn["draw"] != expected or drawn["raw"] != raw or drawn["item"] != things[raw - 1]:
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
    if roll.get("colours") != expected:
        raise Unfair(f"the colours of roll {number} are {roll.get('colours')}, but the seeds give {expected}")


def check_roll(key, number, roll, ruleset, loadout, loaded):
    """One value of six a die, drawn for dice, the next number, shown as the die's faces say; True Grit draws one ticket."""
    weights = true_grit_weights(ruleset["parameters"]) if ruleset["game"] == "true_grit" else None
    sides, count = (sum(weights), 1) if weights else (6, len(roll["slots"]))
    expected = draw(key, PURPOSES["dice"], number, sides, count)
    if roll["draw"] != {"purpose": "dice", "number": number, "sides": sides} or roll["raw"] != expected:
        raise Unfair(f"roll {number} is {roll['raw']} of {roll['draw']}, but the seeds give {expected}")
    if weights:
        entry = pick(weights, expected[0])
        shown = [entry // 6 + 1, entry % 6 + 1]
    else:
        plain_sides = loaded or [1, 2, 3, 4, 5, 6]
        faces = special_faces(ruleset["parameters"])
        codes = [loadout[slot] if loadout else "STANDARD" for slot in roll["slots"]]
        shown = [faces.get(code, plain_sides)[raw - 1] for code, raw in zip(codes, expected)]
    if roll["faces"] != shown:
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


def report(verb, path):
    with open(path, encoding="utf-8") as file:
        if verb == "vectors":
            return f"{check_vectors(json.load(file))} vectors agree"
        events = [plain(json.loads(line)) for line in file if line.strip()]
    if verb == "game":
        return f"fair, {check_game(events)} rolls drawn again"
    return f"{check_that_tampering_shows(events)} kinds of tampering caught"


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("vectors", "game", "tampered"):
        print(__doc__, file=sys.stderr)
        return 2
    for path in arguments[1:]:
        try:
            print(f"{path}: {report(arguments[0], path)}")
        except Unfair as wrong:
            print(f"{path}: {wrong}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
