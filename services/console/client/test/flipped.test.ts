// Every byte of a bundle matters, and two verifiers that share no code agree on what a changed one means.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { verdictOf, verifyProof } from '@croupier/client/verify';
import { ROOT, vectorBytes } from './vectors.js';

const FLIPS = [0x01, 0x02, 0x20, 0x80];

/** One verdict per byte: h if it holds, d if something differs, u if it cannot be judged. */
const PYTHON = `
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + "tests")
import fair_dice
data = open(sys.argv[1] + "tests/vectors/true-grit.proof", "rb").read()
def verdict(changed):
    try:
        fair_dice.check_proof(changed)
        return "h"
    except fair_dice.Unfair:
        return "d"
    except fair_dice.Unreadable:
        return "u"
flips = (0x01, 0x02, 0x20, 0x80)
print("".join(verdict(data[:n] + bytes([b ^ flips[n % 4]]) + data[n + 1:]) for n, b in enumerate(data)))
`;

test('each byte of true-grit.proof, changed, is caught as tests/fair_dice.py catches it', () => {
  const bundle = vectorBytes('true-grit.proof');
  const python = execFileSync('python3', ['-c', PYTHON, ROOT], { encoding: 'utf8' }).trim();
  assert.equal(python.length, bundle.length);
  const changed = Uint8Array.from(bundle);
  for (const [at, byte] of bundle.entries()) {
    const flip = FLIPS[at % FLIPS.length] ?? 0;
    changed[at] = byte ^ flip;
    const verdict = verdictOf(verifyProof(changed));
    changed[at] = byte;
    assert.notEqual(verdict, 'holds', `byte ${at} xor ${flip}`);
    assert.equal(verdict[0], python[at], `byte ${at} xor ${flip}`);
  }
});
