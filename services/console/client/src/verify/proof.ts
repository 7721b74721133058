import { readBundle } from './bundle.js';
import type { Bundle, SealedEvent } from './bundle.js';
import { bytesToHex, utf8ToBytes } from './bytes.js';
import { checkChain, checkEnvelopes } from './chain.js';
import { checkDice } from './dice.js';
import type { PlainEvent } from './dice.js';
import { isObject, parseStrictJson, shown } from './json.js';
import { Difference, Unreadable, failed, run } from './report.js';
import type { Check, Known } from './report.js';
import { checkSeal } from './seal.js';

/**
 * Checks a proof bundle: its form, the envelopes, the chain of hashes, the seal, and the dice.
 *
 * Give the bytes of the file: a text that was decoded carelessly may hide a changed byte.
 */
export function verifyProof(bundle: Uint8Array | string, known: Known = {}): Check[] {
  const checks: Check[] = [];
  const data = typeof bundle === 'string' ? utf8ToBytes(bundle) : bundle;
  const read = run(checks, 'form', () => readBundle(data), ({ events }) => ({ detail: `${events.length} events` }));
  if (read === undefined) return checks;
  run(checks, 'envelopes', () => checkEnvelopes(read, known.game));
  run(checks, 'chain', () => checkChain(read.events), () => ({ detail: `chain of ${read.events.length} events` }));
  run(checks, 'seal', () => judgeSeal(read, known.key), () => aboutSeal(read, known.key));
  return [...checks, ...judgeDice(read, known)];
}

function judgeSeal({ game, events, seal }: Bundle, key: string | undefined): void {
  if (seal !== undefined) checkSeal(game, events.at(-1)?.hash ?? new Uint8Array(32), seal, key);
  else if (key !== undefined) throw new Difference('seal', 'not sealed yet', `a seal by ${key}`, 'none');
}

function aboutSeal({ seal }: Bundle, key: string | undefined): Partial<Pick<Check, 'detail' | 'warning'>> {
  if (seal === undefined) return { warning: 'not sealed yet: ask again in a minute' };
  const detail = `seal ${seal.number} of shard ${seal.shard}, key ${bytesToHex(seal.key)}`;
  return key === undefined ? { detail, warning: 'give the key of the house to be sure whose seal it is' } : { detail };
}

function judgeDice({ game, events }: Bundle, known: Known): Check[] {
  try {
    return checkDice(events.map(unpack), { ...known, game });
  } catch (error) {
    return [failed('form', error)];
  }
}

function unpack({ type, payload, version }: SealedEvent): PlainEvent {
  try {
    const fields = parseStrictJson(payload);
    if (!isObject(fields)) throw new Unreadable(`expected an object, found ${shown(fields)}`);
    return { kind: type, fields };
  } catch (error) {
    throw error instanceof Unreadable ? new Unreadable(`the payload of event ${version}: ${error.message}`) : error;
  }
}
