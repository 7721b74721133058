import type { ExchangeDirection, LegalMoveFieldsFragment, MoveInput } from './generated.js';

export type LegalMove = LegalMoveFieldsFragment;

/** What a player chooses about a legal move. What is left out is the first possibility listed. */
export interface Choice {
  /** The dice to save, score or replace, by slot. */
  readonly slots?: ReadonlyArray<number>;
  /** The dice that stay as they are in a roll, by slot; none if left out. */
  readonly keepSlots?: ReadonlyArray<number>;
  /** Whether to roll on after saving. */
  readonly andRoll?: boolean;
  /** The seat that an attack or a card is aimed at. */
  readonly targetSeat?: number;
  /** Whether to stay after a hit; yes if left out. */
  readonly stay?: boolean;
  /** How many hearts to convert; all if left out. */
  readonly hearts?: number;
  /** The die to copy and the die that changes, by slot. */
  readonly copy?: { readonly fromSlot: number; readonly toSlot: number };
  readonly direction?: ExchangeDirection;
}

/**
 * Makes a move of one that `Game.legalMoves` lists. Without a choice it is the best or the first
 * possibility, which the server accepts.
 */
export function moveFrom(legal: LegalMove, choice: Choice = {}): MoveInput {
  switch (legal.__typename) {
    case 'LegalRoll':
      return { roll: choice.keepSlots ? { keepSlots: choice.keepSlots } : {} };
    case 'LegalSave':
      return { save: { slots: choice.slots ?? first(legal.selections).slots, andRoll: choice.andRoll ?? false } };
    case 'LegalBank':
      return { bank: bankInput(legal, choice) };
    case 'LegalForfeit':
      return { forfeit: {} };
    case 'LegalEndTurn':
      return { endTurn: {} };
    case 'LegalScoreCategory':
      return { scoreCategory: { category: legal.category } };
    case 'LegalBuyItem':
      return { buyItem: { code: legal.offer.item.code, ...target(legal.targets, choice) } };
    case 'LegalUseItem':
      return { useItem: { code: legal.item.code } };
    case 'LegalTakeEvolution':
      return { takeEvolution: { code: legal.item.code } };
    case 'LegalRenewMarket':
      return { renewMarket: {} };
    case 'LegalResolveDice':
      return { resolveDice: {} };
    case 'LegalAttack':
      return { attack: target(legal.targets, choice) };
    case 'LegalDecideStay':
      return { decideStay: { stay: choice.stay ?? true } };
    case 'LegalConvertHearts':
      return { useAbility: { convertHearts: choice.hearts ?? legal.max } };
    case 'LegalCopyDie':
      return { useAbility: { copyDie: choice.copy ?? differentSlots(legal.fromSlots, legal.toSlots) } };
    case 'LegalExchange':
      return { useAbility: { exchange: choice.direction ?? first(legal.directions) } };
    case 'LegalPlaceStored':
      return { useAbility: { placeStored: choice.slots?.[0] ?? first(legal.slots) } };
    case 'LegalStoreDie':
      return { useAbility: { storeDie: choice.slots?.[0] ?? first(legal.slots) } };
    case 'LegalWritten':
      return { written: { text: legal.text } };
  }
}

/** A bank may need dice to be saved first: where it does not say what it brings without, and lists some. */
function bankInput(
  legal: Extract<LegalMove, { __typename: 'LegalBank' }>,
  choice: Choice,
): { readonly saveSlots?: ReadonlyArray<number> } {
  if (choice.slots !== undefined) return { saveSlots: choice.slots };
  const [best] = legal.selections;
  return legal.preview === null && best !== undefined ? { saveSlots: best.slots } : {};
}

/** A seat is named only where one must be. */
function target(targets: ReadonlyArray<{ readonly number: number }>, choice: Choice): { readonly targetSeat?: number } {
  const targetSeat = choice.targetSeat ?? targets[0]?.number;
  return targetSeat === undefined ? {} : { targetSeat };
}

function differentSlots(
  fromSlots: ReadonlyArray<number>,
  toSlots: ReadonlyArray<number>,
): { readonly fromSlot: number; readonly toSlot: number } {
  for (const fromSlot of fromSlots) {
    for (const toSlot of toSlots) {
      if (fromSlot !== toSlot) return { fromSlot, toSlot };
    }
  }
  throw new RangeError('there is no die to copy onto another');
}

function first<Item>(items: ReadonlyArray<Item>): Item {
  const [item] = items;
  if (item === undefined) throw new RangeError('a legal move without a possibility');
  return item;
}
