import type { Bundle, SealedEvent } from './bundle.js';
import { bytesToHex, isEqual, taggedHash } from './bytes.js';
import { Difference, Unreadable, gameUuid } from './report.js';

/** The types of the events of a game; all are at schema 1. */
const TYPES = new Set(
  `Created SeatTaken SeedChosen LoadoutChosen CharacterChosen SeatLeft Started TurnStarted Rolled Saved Banked
  Farkled EffectApplied MoneyAwarded Drawn Asked Answered TimedOut TurnEnded Ended SeedRevealed Ruled Voided`.split(/\s+/),
);

/** Each event is of this game, in its place, not before the one before, and of a type we know. */
export function checkEnvelopes({ game, events }: Bundle, known: string | undefined): void {
  if (known !== undefined && game !== gameUuid(known)) {
    throw new Difference('envelopes', 'this is another game', gameUuid(known), game);
  }
  let last = events[0]?.recordedAt ?? 0n;
  for (const [index, event] of events.entries()) {
    const place = BigInt(index + 1);
    if (event.stream !== game) {
      throw new Difference('envelopes', `event ${place} is of another game`, game, event.stream);
    }
    if (event.version !== place) {
      throw new Difference('envelopes', `event ${place} is not in its place`, `version ${place}`, `version ${event.version}`);
    }
    if (event.recordedAt < last) {
      throw new Difference('envelopes', `time runs backwards at event ${place}`, `${last} or later`, String(event.recordedAt));
    }
    if (!TYPES.has(event.type) || event.schema !== 1n) {
      const type = JSON.stringify(event.type);
      throw new Unreadable(`event ${place} is of type ${type}, schema ${event.schema}, which are not known here`);
    }
    last = event.recordedAt;
  }
}

/** Each hash covers its event and the hash before. */
export function checkChain(events: ReadonlyArray<SealedEvent>): void {
  let previous: Uint8Array = new Uint8Array(32);
  for (const event of events) {
    const expected = taggedHash('croupier/event/1', event.hashed, previous);
    if (!isEqual(event.hash, expected)) {
      const message = `the chain is broken at event ${event.version}: it or its hash was changed`;
      throw new Difference('chain', message, bytesToHex(expected), bytesToHex(event.hash));
    }
    previous = expected;
  }
}
