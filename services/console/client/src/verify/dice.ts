import { asUuid, bytesToHex, hexBytes } from './bytes.js';
import { commitment, diceKey, rulesetHash, seedsHash } from './fair.js';
import { Items } from './items.js';
import { asList, asNumber, asText, field, isObject, parseJson, shown } from './json.js';
import type { Json } from './json.js';
import { Difference, Unreadable, failed, gameUuid, run } from './report.js';
import type { Check, Known } from './report.js';
import { checkRoll } from './roll.js';

/** An event of a game, with or without its envelope. */
export interface PlainEvent {
  readonly kind: string;
  readonly fields: Json;
}

/**
 * Checks the dice of a finished game: the commitment, the sealed seeds, and every draw.
 *
 * The text has one event per line, as `export(format: NDJSON)` gives them, or is a list of them.
 */
export function verifyEvents(text: string, known: Known = {}): Check[] {
  const checks: Check[] = [];
  const events = run(checks, 'form', () => readEvents(text));
  if (events !== undefined) checks.push(...checkDice(events, known));
  return checks;
}

/** Checks the dice of events that are already read; the first thing that differs ends it. */
export function checkDice(events: ReadonlyArray<PlainEvent>, known: Known): Check[] {
  const checks: Check[] = [];
  try {
    walk(events, known, checks);
  } catch (error) {
    checks.push(failed('rolls', error));
  }
  return checks;
}

function walk(events: ReadonlyArray<PlainEvent>, known: Known, checks: Check[]): void {
  const { created, secret } = ends(events);
  checks.push({ name: 'end', ok: true, detail: 'the secret is revealed' });
  const promise = checkPromise(created, secret, known, checks);
  const table = new Table(promise, known, checks);
  for (const event of events.slice(1)) table.follow(event);
  table.finish();
}

/** A game begins with `Created` and ends with `SeedRevealed`; after that it can only be made void. */
function ends(events: ReadonlyArray<PlainEvent>): { created: Json; secret: Json } {
  const [first] = events;
  if (first?.kind !== 'Created') throw new Difference('end', 'these events do not begin with Created');
  const last = events.at(-1)?.kind === 'Voided' ? events.at(-2) : events.at(-1);
  if (last?.kind !== 'SeedRevealed') throw new Difference('end', 'the secret is not revealed yet');
  return { created: first.fields, secret: field(last.fields, 'secret') };
}

/** What is fixed before the first seed. */
interface Promised {
  readonly game: string;
  readonly ruleset: Json;
  readonly rules: Uint8Array;
  readonly secret: Uint8Array;
}

function checkPromise(created: Json, revealed: Json, known: Known, checks: Check[]): Promised {
  const game = asUuid(field(created, 'game'));
  if (known.game !== undefined && game !== gameUuid(known.game)) {
    throw new Difference('end', 'this is another game', gameUuid(known.game), game);
  }
  const promised = asText(field(created, 'commitment'));
  if (known.commitment !== undefined && promised !== known.commitment.toLowerCase()) {
    throw new Difference('commitment', 'another commitment than you were shown', known.commitment, promised);
  }
  const secret = hexBytes(revealed, 32);
  const ruleset = field(created, 'ruleset');
  const rules = rulesetHash(ruleset);
  expect('ruleset', 'the rules are not the ones that were hashed', asText(field(created, 'ruleset_hash')), rules);
  checks.push({ name: 'ruleset', ok: true, found: bytesToHex(rules) });
  const made = commitment(secret, game, rules);
  expect('commitment', 'the revealed secret is not the one that was committed to', promised, made);
  checks.push({
    name: 'commitment',
    ok: true,
    found: promised,
    ...(known.commitment === undefined && { warning: 'compare it with the one you were shown before the game' }),
  });
  return { game, ruleset, rules, secret };
}

/** Follows the events from the second one on. */
class Table {
  readonly #seeds = new Map<number, string | null>();
  readonly #loadouts = new Map<number, Json[]>();
  readonly #items: Items;
  #key: Uint8Array | undefined;
  #rolls = 0;

  constructor(
    private readonly promised: Promised,
    private readonly known: Known,
    private readonly checks: Check[],
  ) {
    this.#items = new Items(promised.ruleset);
  }

  follow({ kind, fields }: PlainEvent): void {
    switch (kind) {
      case 'Created':
        throw new Difference('end', 'the game is created twice');
      case 'SeatTaken':
        this.#beforeTheSeal(kind);
        this.#vacate(fields);
        break;
      case 'SeatLeft':
        // Who leaves after the start leaves the seed behind.
        if (this.#key === undefined) this.#vacate(fields);
        break;
      case 'SeedChosen':
        this.#beforeTheSeal(kind);
        this.#seeds.set(seatOf(fields), asText(field(fields, 'seed')));
        break;
      case 'LoadoutChosen':
        this.#loadouts.set(seatOf(fields), asList(field(fields, 'dice')));
        break;
      case 'Started':
        this.#beforeTheSeal(kind);
        this.#seal(fields);
        break;
      case 'Rolled':
        this.#roll(fields);
        break;
      case 'Drawn':
        this.#items.checkDrawn(this.#sealed('something came up'), fields);
        break;
    }
    this.#items.follow(kind, fields);
  }

  finish(): void {
    if (this.known.seeds?.size && this.#key === undefined) {
      throw new Difference('seeds', 'the game never started', 'your seed in the dice');
    }
    this.checks.push({ name: 'rolls', ok: true, detail: `${this.#rolls} rolls drawn again` });
    if (this.#items.count > 0) {
      this.checks.push({ name: 'draws', ok: true, detail: `${this.#items.count} other draws drawn again` });
    }
  }

  #vacate(fields: Json): void {
    this.#seeds.set(seatOf(fields), null);
    this.#loadouts.delete(seatOf(fields));
  }

  #seal(fields: Json): void {
    const { secret, game, rules } = this.promised;
    const seats = [...this.#seeds.keys()].sort((a, b) => a - b);
    const sealed = seedsHash(seats.map((seat) => this.#seeds.get(seat) ?? null));
    expect('seeds', 'the seeds of the seats are not the ones that were sealed', asText(field(fields, 'seeds')), sealed);
    for (const [seat, given] of this.known.seeds ?? []) {
      const found = this.#seeds.get(seat) ?? null;
      if (found !== given) throw new Difference('seeds', `the seed of seat ${seat} is another than you gave`, given, shown(found));
    }
    this.checks.push({
      name: 'seeds',
      ok: true,
      found: bytesToHex(sealed),
      detail: `${seats.length} seats`,
      ...(!this.known.seeds?.size && { warning: 'give the seed you chose to be sure that it is among them' }),
    });
    this.#key = diceKey(secret, sealed, game, rules);
  }

  #roll(fields: Json): void {
    const key = this.#sealed('a roll');
    this.#rolls += 1;
    const loadout = this.#loadouts.get(seatOf(fields));
    const { ruleset } = this.promised;
    checkRoll(fields, { key, number: this.#rolls, ruleset, items: this.#items, loadout });
  }

  #sealed(what: string): Uint8Array {
    if (this.#key === undefined) throw new Difference('seeds', `${what} before the seeds were sealed`);
    return this.#key;
  }

  #beforeTheSeal(kind: string): void {
    if (this.#key !== undefined) throw new Difference('seeds', `${kind} after the seeds were sealed`);
  }
}

function seatOf(fields: Json): number {
  return asNumber(field(fields, 'seat'));
}

function expect(check: 'ruleset' | 'commitment' | 'seeds', message: string, expected: string, found: Uint8Array): void {
  if (expected !== bytesToHex(found)) throw new Difference(check, message, expected, bytesToHex(found));
}

function readEvents(text: string): PlainEvent[] {
  const lines = text.trimStart().startsWith('[')
    ? asList(parseJson(text))
    : text.split('\n').filter((line) => line.trim() !== '').map(parseJson);
  return lines.map(plainEvent);
}

/** An event as the log has it, alone or in its envelope. */
function plainEvent(line: Json): PlainEvent {
  if (isObject(line) && 'payload' in line && !('Created' in line)) {
    const payload = field(line, 'payload');
    return { kind: asText(field(line, 'type')), fields: typeof payload === 'string' ? parseJson(payload) : payload };
  }
  const [entry, ...others] = isObject(line) ? Object.entries(line) : [];
  if (entry === undefined || others.length > 0) throw new Unreadable(`expected an event, found ${shown(line)}`);
  return { kind: entry[0], fields: entry[1] };
}
