import { asUuid, bytesToHex, hexBytes } from './bytes.js';
import { PURPOSES, commitment, diceKey, draw, rulesetHash, seedsHash } from './fair.js';
import { asText, parseJson, shown } from './json.js';
import type { Json } from './json.js';
import { Difference, Unreadable, failed, gameUuid, run } from './report.js';
import type { Check, Known } from './report.js';
import { sidesOf } from './roll.js';

/**
 * Checks the dice of a game as text (`export(format: RECORD)`): its commitment and every roll.
 *
 * A record does not say how many sides the draws of markets, gifts and colours have; those are
 * counted and named in a warning. That each roll has the right number of dice, and that the digest
 * fits, is for `croupier verify`, which knows the rules. A proof bundle has all of it, and the chain
 * and the seal besides.
 */
export function verifyRecord(text: string, known: Known = {}): Check[] {
  const checks: Check[] = [];
  const record = run(checks, 'form', () => readRecord(text));
  if (record === undefined) return checks;
  try {
    const key = checkPromise(record, known, checks);
    checkRolls(record, key, checks);
  } catch (error) {
    checks.push(failed('rolls', error));
  }
  return checks;
}

interface Record {
  readonly game: string;
  readonly ruleset: Json;
  readonly commitment: string;
  readonly secret: string | undefined;
  /** The seeds in seat order, as they were at the start; nothing if it never started. */
  readonly seeds: ReadonlyArray<string | null> | undefined;
  /** The values of the dice, draw by draw. */
  readonly dice: ReadonlyArray<ReadonlyArray<number>>;
  /** How many other draws there are. */
  readonly others: number;
}

function checkPromise(record: Record, known: Known, checks: Check[]): Uint8Array | undefined {
  const { game, seeds } = record;
  if (known.game !== undefined && gameUuid(known.game) !== game) {
    throw new Difference('end', 'this is another game', gameUuid(known.game), game);
  }
  if (record.secret === undefined) throw new Difference('end', 'the secret is not revealed yet');
  checks.push({ name: 'end', ok: true, detail: 'the secret is revealed' });
  if (known.commitment !== undefined && known.commitment.toLowerCase() !== record.commitment) {
    throw new Difference('commitment', 'another commitment than you were shown', known.commitment, record.commitment);
  }
  const secret = hexBytes(record.secret, 32);
  const rules = rulesetHash(record.ruleset);
  const made = bytesToHex(commitment(secret, game, rules));
  if (made !== record.commitment) {
    throw new Difference('commitment', 'the rules or the secret are not the ones that were committed to', record.commitment, made);
  }
  checks.push({ name: 'commitment', ok: true, found: made });
  for (const [seat, given] of known.seeds ?? []) {
    const found = seeds?.[seat] ?? null;
    if (found !== given) throw new Difference('seeds', `the seed of seat ${seat} is another than you gave`, given, shown(found));
  }
  return seeds && diceKey(secret, seedsHash(seeds), game, rules);
}

function checkRolls({ dice, others, ruleset }: Record, key: Uint8Array | undefined, checks: Check[]): void {
  const sides = sidesOf(ruleset);
  for (const [index, found] of dice.entries()) {
    if (key === undefined) throw new Difference('seeds', 'a roll before the seeds were sealed');
    const expected = draw(key, PURPOSES.dice, index + 1, sides, found.length);
    if (expected.join() !== found.join()) {
      throw new Difference('rolls', `roll ${index + 1} is not what the seeds give`, shown(expected), shown([...found]));
    }
  }
  checks.push({
    name: 'rolls',
    ok: true,
    detail: `${dice.length} rolls drawn again`,
    ...(others > 0 && { warning: `${others} other draws are not checked: a proof bundle has what that needs` }),
  });
}

// --- Reading ---------------------------------------------------------------------------------------

const FORMAT = 'croupier record 1';
/** Comments, texts in quotes, stamps, arrows, words and numbers, marks. */
const SIGNS = /\{[^}]*\}|"(?:[^"\\]|\\.)*"|@[+-]?\d+|->|[\w$-]+(?<!-)|[[\],;|:.\n]/g;

function readRecord(text: string): Record {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  if (lines[0]?.trimEnd() !== FORMAT) throw new Unreadable(`a record begins with '${FORMAT}'`);
  const heads = new Map<string, string>();
  const moves: string[] = [];
  for (const line of lines.slice(1)) {
    const head = /^([a-z]+):\s*(.*?)\s*$/.exec(line);
    if (head === null) moves.push(line);
    else if (heads.has(head[1] ?? '')) throw new Unreadable(`the header '${head[1]}' stands here twice`);
    else heads.set(head[1] ?? '', head[2] ?? '');
  }
  const head = (name: string): string => {
    const found = heads.get(name);
    if (found === undefined) throw new Unreadable(`the header '${name}:' is missing`);
    return found;
  };
  return {
    game: asUuid(head('game')),
    ruleset: parseJson(head('rules')),
    commitment: head('commitment'),
    secret: heads.get('secret'),
    ...new Moves(moves.join('\n')).read(),
  };
}

/** What the moves of a record say about seats, seeds and draws; everything else is passed over. */
class Moves {
  readonly #seeds = new Map<number, string | null>();
  readonly #free = new Set<number>();
  readonly #dice: number[][] = [];
  #sealed: Array<string | null> | undefined;
  #others = 0;
  #who = '';

  constructor(private readonly text: string) {}

  read(): Pick<Record, 'seeds' | 'dice' | 'others'> {
    // Everything between two of these is one command.
    let command: string[] = [];
    for (const [sign] of this.text.matchAll(SIGNS)) {
      if (sign.startsWith('{')) continue;
      if (sign === ':') {
        this.#who = command.pop() ?? '';
        command = [];
      } else if (sign === ';' || sign === '|' || sign === '\n') {
        this.#take(command);
        command = [];
      } else {
        command.push(sign);
      }
    }
    this.#take(command);
    return { seeds: this.#sealed, dice: this.#dice, others: this.#others };
  }

  #take(command: string[]): void {
    const [verb] = command;
    if (this.#sealed === undefined) {
      if (verb === 'join') this.#join();
      else if (verb === 'leave') this.#leave();
      else if (verb === 'seed') this.#seeds.set(Number(this.#who), asText(parseJson(command[1] ?? '')));
      else if (verb === 'start') this.#start();
    }
    for (const [at, sign] of command.entries()) {
      if (sign === 'roll' || (sign === 'dice' && at > 0)) this.#dice.push(listBehind(command, at));
      else if (at > 0 && ['colours', 'market', 'grants'].includes(sign)) this.#others += 1;
    }
  }

  /** Takes the lowest free seat. */
  #join(): void {
    const seat = this.#free.size > 0 ? Math.min(...this.#free) : this.#seeds.size;
    this.#free.delete(seat);
    this.#seeds.set(seat, null);
  }

  #leave(): void {
    this.#free.add(Number(this.#who));
    this.#seeds.set(Number(this.#who), null);
  }

  #start(): void {
    const seats = [...this.#seeds.keys()].sort((a, b) => a - b);
    this.#sealed = seats.map((seat) => this.#seeds.get(seat) ?? null);
  }
}

/** The numbers of `word [1,2,3]`. */
function listBehind(command: string[], at: number): number[] {
  const end = command.indexOf(']', at);
  if (command[at + 1] !== '[' || end < 0) throw new Unreadable(`expected a list behind '${command[at]}'`);
  return command.slice(at + 2, end).filter((sign) => sign !== ',').map(Number);
}
