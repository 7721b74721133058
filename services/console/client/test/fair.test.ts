import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commitment, diceKey, draw, parseJson, pick, rulesetHash, seedsHash } from '@croupier/client/verify';
import type { Json } from '@croupier/client/verify';
import { vectorText } from './vectors.js';

interface Vectors {
  readonly rulesets: { ruleset: Json; hash: string }[];
  readonly commitments: { secret: string; game: string; ruleset_hash: string; commitment: string }[];
  readonly seeds: { seeds: (string | null)[]; hash: string }[];
  readonly keys: { secret: string; seeds_hash: string; game: string; ruleset_hash: string; key: string }[];
  readonly draws: { key: string; purpose: number; number: number; sides: number; values: number[] }[];
  readonly weighted: { weights: number[]; picks: number[]; last: number }[];
}

const vectors: Vectors = JSON.parse(vectorText('fair-dice.json'));
const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex');
const hex = (found: Uint8Array): string => Buffer.from(found).toString('hex');

test('the frozen vectors have no kind that is not compared here', () => {
  const kinds = ['commitments', 'draws', 'keys', 'rulesets', 'seeds', 'weighted'];
  assert.deepEqual(Object.keys(vectors).sort(), kinds);
});

test('rulesets', () => {
  for (const { ruleset, hash } of vectors.rulesets) assert.equal(hex(rulesetHash(ruleset)), hash);
});

test('commitments', () => {
  for (const vector of vectors.commitments) {
    const found = commitment(bytes(vector.secret), vector.game, bytes(vector.ruleset_hash));
    assert.equal(hex(found), vector.commitment);
  }
});

test('seeds', () => {
  for (const { seeds, hash } of vectors.seeds) assert.equal(hex(seedsHash(seeds)), hash);
});

test('keys', () => {
  for (const vector of vectors.keys) {
    const found = diceKey(bytes(vector.secret), bytes(vector.seeds_hash), vector.game, bytes(vector.ruleset_hash));
    assert.equal(hex(found), vector.key);
  }
});

test('draws', () => {
  for (const { key, purpose, number, sides, values } of vectors.draws) {
    assert.deepEqual(draw(bytes(key), purpose, number, sides, values.length), values);
  }
});

test('weighted choices', () => {
  for (const { weights, picks, last } of vectors.weighted) {
    assert.deepEqual(picks.map((_, ticket) => pick(weights, ticket + 1)), picks);
    assert.equal(pick(weights, weights.reduce((sum, weight) => sum + weight, 0)), last);
  }
});

test('rulesets are hashed with keys in the order of code points and with numbers of 64 bits', () => {
  const ruleset = '{ "\\ud83c\\udfb2": 1, "\\uff5e": 9223372036854775807, "a": [] }';
  const canonical = parseJson('{"a":[],"～":9223372036854775807,"🎲":1}');
  assert.equal(hex(rulesetHash(parseJson(ruleset))), hex(rulesetHash(canonical)));
});
