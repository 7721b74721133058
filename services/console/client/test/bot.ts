import { moveFrom } from '@croupier/client';
import type { Choice, Game, LegalMove, MoveInput } from '@croupier/client';

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Any move that the game lists, with any of the choices that it lists; giving up only if there is nothing else. */
export function anyMove(game: Game, random: () => number): { readonly legal: LegalMove; readonly move: MoveInput } {
  const moves = game.legalMoves.filter(({ __typename }) => __typename !== 'LegalForfeit');
  const legal = oneOf(moves.length > 0 ? moves : game.legalMoves, random);
  return { legal, move: moveFrom(legal, anyChoice(legal, random)) };
}

function anyChoice(legal: LegalMove, random: () => number): Choice {
  switch (legal.__typename) {
    case 'LegalRoll': {
      const keepSlots = legal.keepableSlots.filter(() => random() < 0.5);
      return keepSlots.length < legal.keepableSlots.length && keepSlots.length > 0 ? { keepSlots } : {};
    }
    case 'LegalSave':
      return { slots: oneOf(legal.selections, random).slots, andRoll: random() < 0.5 };
    case 'LegalAttack':
    case 'LegalBuyItem':
      return legal.targets.length > 0 ? { targetSeat: oneOf(legal.targets, random).number } : {};
    case 'LegalDecideStay':
      return { stay: random() < 0.5 };
    case 'LegalConvertHearts':
      return { hearts: 1 + Math.floor(random() * legal.max) };
    case 'LegalStoreDie':
    case 'LegalPlaceStored':
      return { slots: [oneOf(legal.slots, random)] };
    case 'LegalExchange':
      return { direction: oneOf(legal.directions, random) };
    default:
      return {};
  }
}

function oneOf<Item>(items: ReadonlyArray<Item>, random: () => number): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new RangeError('nothing to choose from');
  return item;
}
