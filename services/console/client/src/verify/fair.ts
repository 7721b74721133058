import { chacha20orig } from '@noble/ciphers/chacha.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { concatBytes, sha256, taggedHash, utf8ToBytes, uuidBytes } from './bytes.js';
import { canonicalJson } from './json.js';
import type { Json } from './json.js';
import { Difference, Unreadable } from './report.js';

/** The protocol of fair dice, value by value; the server's docs/fair-dice.md defines all of it. */

/** What a draw is for, and its number in the nonce. */
export const PURPOSES = { dice: 1, colours: 2, market: 3, grants: 4 } as const;

export type Purpose = keyof typeof PURPOSES;

/** The hash of the rules. */
export function rulesetHash(ruleset: Json): Uint8Array {
  return taggedHash('croupier/ruleset/1', utf8ToBytes(canonicalJson(ruleset)));
}

/** What the house publishes before it knows a seed. */
export function commitment(secret: Uint8Array, game: string, rules: Uint8Array): Uint8Array {
  return taggedHash('croupier/commitment/1', uuidBytes(game), rules, secret);
}

/** The hash of the seeds in seat order; a seat without one counts as an empty text. */
export function seedsHash(seeds: ReadonlyArray<string | null>): Uint8Array {
  const entries = seeds.map((seed) => {
    const bytes = utf8ToBytes(seed ?? '');
    if (bytes.length > 255) throw new Unreadable(`a seed of ${bytes.length} bytes`);
    return concatBytes(Uint8Array.of(bytes.length), bytes);
  });
  return taggedHash('croupier/seeds/1', ...entries);
}

/** The key of all draws of a game. */
export function diceKey(secret: Uint8Array, seeds: Uint8Array, game: string, rules: Uint8Array): Uint8Array {
  const info = concatBytes(utf8ToBytes('croupier/dice-key/1\0'), uuidBytes(game), rules);
  return hkdf(sha256, secret, seeds, info, 32);
}

/** The values of a draw, each from 1 to `sides`, all equally likely. */
export function draw(key: Uint8Array, purpose: number, number: number, sides: number, count: number): number[] {
  // Beyond this no word would ever be below the limit.
  if (!(sides >= 1 && sides <= 2 ** 32)) {
    throw new Difference('draws', `draw ${number} has ${sides} sides`, '1 to 2^32', String(sides));
  }
  const limit = 2 ** 32 - (2 ** 32 % sides);
  const values: number[] = [];
  for (const word of words(key, purpose, number)) {
    if (values.length === count) break;
    if (word < limit) values.push((word % sides) + 1);
  }
  return values;
}

/** The entry that a ticket chooses: the first whose weight, added to those before, reaches it. */
export function pick(weights: ReadonlyArray<number>, ticket: number): number {
  let left = ticket;
  for (const [entry, weight] of weights.entries()) {
    if (left <= weight) return entry;
    left -= weight;
  }
  throw new Difference('draws', 'a ticket beyond the last entry');
}

/** The key stream of one draw as little-endian words of 32 bits. */
function* words(key: Uint8Array, purpose: number, number: number): Generator<number, void> {
  const nonce = new Uint8Array(8);
  new DataView(nonce.buffer).setBigUint64(0, (BigInt(purpose) << 56n) + BigInt(number), true);
  for (let block = 0; ; block += 1) {
    const stream = chacha20orig(key, nonce, new Uint8Array(64), undefined, block);
    const view = new DataView(stream.buffer, stream.byteOffset, stream.byteLength);
    for (let at = 0; at < 64; at += 4) yield view.getUint32(at, true);
  }
}
