import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verdictOf, verifyEvents, verifyProof, verifyRecord } from '@croupier/client/verify';
import type { Check } from '@croupier/client/verify';
import { vectorBytes, vectorNames, vectorText } from './vectors.js';

type Fields = Record<string, unknown>;
type Event = Record<string, Fields>;

for (const name of vectorNames('.ndjson')) {
  test(`${name} holds`, () => assertHolds(verifyEvents(vectorText(name))));
}

for (const name of vectorNames('.proof')) {
  test(`${name} holds`, () => assertHolds(verifyProof(vectorBytes(name))));
}

for (const name of vectorNames('.record', 'frozen/')) {
  test(`${name} holds, and not with another value`, () => {
    const record = vectorText(`frozen/${name}`);
    assertHolds(verifyRecord(record));
    const otherRoll = record.replace(/roll \[(\d)/, (_, value: string) => `roll [${(Number(value) % 6) + 1}`);
    assert.equal(failure(verifyRecord(otherRoll)).name, 'rolls');
    const otherSeed = record.replaceAll('seed "', 'seed "another ');
    assert.equal(failure(verifyRecord(otherSeed)).name, 'rolls');
    assert.equal(failure(verifyRecord(record.replace('secret: 2a', 'secret: 2b'))).name, 'commitment');
    assert.equal(failure(verifyRecord(record.replace(/^secret:.*\n/m, ''))).name, 'end');
  });
}

/** The same changes as `tampered` of tests/fair_dice.py. */
function tamperings(events: Event[]): Map<string, (copy: Event[]) => void> {
  const index = (kind: string): number => events.findIndex((event) => kind in event);
  const rolled = index('Rolled');
  const started = index('Started');
  const of = (copy: Event[], at: number, kind: string): Fields => copy.at(at)?.[kind] ?? {};
  const roll = (copy: Event[]): Fields => of(copy, rolled, 'Rolled');
  const raw = roll(events)['raw'] as number[];
  const drawOf = (fields: Fields): Fields => fields['draw'] as Fields;
  const changes = new Map<string, (copy: Event[]) => void>([
    ['raw value', (copy) => ((roll(copy)['raw'] as number[])[0] = ((raw[0] ?? 0) % 6) + 1)],
    ['faces', (copy) => (roll(copy)['faces'] = [1, 1, 1, 1, 1, 1])],
    ['fewer values', (copy) => (roll(copy)['raw'] = raw.slice(0, 2))],
    ['number', (copy) => (drawOf(roll(copy))['number'] = 2)],
    ['sides', (copy) => (drawOf(roll(copy))['sides'] = 1)],
    ['purpose', (copy) => (drawOf(roll(copy))['purpose'] = 'colours')],
    ['seed', (copy) => (of(copy, index('SeedChosen'), 'SeedChosen')['seed'] = 'another')],
    ['secret', (copy) => (of(copy, -1, 'SeedRevealed')['secret'] = '00'.repeat(32))],
    ['rules', (copy) => ((of(copy, 0, 'Created')['ruleset'] as Fields)['version'] = 99)],
    ['started twice', (copy) => copy.splice(started + 1, 0, copy[started] ?? {})],
    ['a seed after the start', (copy) => copy.splice(started + 1, 0, copy[index('SeedChosen')] ?? {})],
    ['never started', (copy) => copy.splice(started, 1)],
    ['cut off', (copy) => copy.pop()],
  ]);
  const drawn = index('Drawn');
  if (drawn >= 0) {
    changes.set('drawn item', (copy) => (of(copy, drawn, 'Drawn')['item'] = 'another'));
    changes.set('drawn value', (copy) => (of(copy, drawn, 'Drawn')['raw'] = 99));
    changes.set('drawn number', (copy) => (drawOf(of(copy, drawn, 'Drawn'))['number'] = 7));
  }
  const coloured = events.findIndex((event) => event['Rolled'] !== undefined && 'colours' in event['Rolled']);
  if (coloured >= 0) {
    const colours = (copy: Event[]): { codes: string[]; draws: { draw: Fields }[] } =>
      of(copy, coloured, 'Rolled')['colours'] as { codes: string[]; draws: { draw: Fields }[] };
    changes.set('colour', (copy) => (colours(copy).codes[0] = 'PINK'));
    changes.set('sides of a colour', (copy) => ((colours(copy).draws[0]?.draw ?? {})['sides'] = 1));
    changes.set('no colours', (copy) => delete of(copy, coloured, 'Rolled')['colours']);
  }
  return changes;
}

for (const name of ['game.ndjson', 'challenge.ndjson', 'dice-rogue.ndjson', 'neonpolis.ndjson']) {
  const events: Event[] = vectorText(name).trim().split('\n').map((line): Event => JSON.parse(line));
  for (const [what, change] of tamperings(events)) {
    test(`${name} with another ${what} is caught`, () => {
      const copy = structuredClone(events);
      change(copy);
      const checks = verifyEvents(copy.map((event) => JSON.stringify(event)).join('\n'));
      assert.equal(verdictOf(checks), 'differs', JSON.stringify(checks));
    });
  }
}

test('what somebody knows is compared', () => {
  const bundle = vectorBytes('game.proof');
  const key = 'ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c';
  const commitment = 'd6ed92e9400c0c65200a479e82e7862a0f192ee8cec3cf0facbd6bab0e41fd66';
  const checks = verifyProof(bundle, { key, commitment });
  assertHolds(checks);
  assert.equal(checks.find(({ name }) => name === 'seal')?.warning, undefined);
  const other = 'f'.repeat(64);
  assert.deepEqual(pickFailure(verifyProof(bundle, { key: other })), { name: 'seal', expected: other, found: key });
  assert.equal(failure(verifyProof(bundle, { commitment: other })).found, commitment);
  assert.equal(failure(verifyProof(bundle, { seeds: new Map([[0, 'not mine']]) })).name, 'seeds');
  assert.equal(failure(verifyProof(bundle, { game: 'game:01930000-0000-7000-8000-00000000ffff' })).name, 'envelopes');
});

test('a bundle that cannot be judged is not called wrong', () => {
  const bundle = vectorBytes('true-grit.proof');
  const text = new TextDecoder().decode(bundle);
  for (const unreadable of ['', 'hello', text.slice(0, -1), text.slice(0, 3_000), `${text}\n`, text.replace(':1,', ':2,')]) {
    assert.equal(verdictOf(verifyProof(unreadable)), 'unreadable');
  }
  const unsealed = `${text.trimEnd().split('\n').slice(0, -1).join('\n')}\n{"seal":null}\n`;
  const checks = verifyProof(unsealed);
  assertHolds(checks);
  assert.match(checks.find(({ name }) => name === 'seal')?.warning ?? '', /not sealed yet/);
  assert.equal(failure(verifyProof(unsealed, { key: 'f'.repeat(64) })).name, 'seal');
});

function assertHolds(checks: Check[]): void {
  assert.equal(verdictOf(checks), 'holds', JSON.stringify(checks.filter(({ ok }) => !ok)));
  assert.ok(checks.some(({ name }) => name === 'rolls'));
}

function failure(checks: Check[]): Check {
  const failed = checks.find(({ ok }) => !ok);
  assert.ok(failed, 'nothing was caught');
  return failed;
}

function pickFailure(checks: Check[]): Pick<Check, 'name' | 'expected' | 'found'> {
  const { name, expected, found } = failure(checks);
  return { name, ...(expected !== undefined && { expected }), ...(found !== undefined && { found }) };
}
