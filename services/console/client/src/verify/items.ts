import { PURPOSES, draw } from './fair.js';
import { asList, asNumber, asText, field, isObject, isSame, shown } from './json.js';
import type { Json } from './json.js';
import { Difference, Unreadable } from './report.js';

/** The purposes of draws that are not of dice. */
type ItemPurpose = 'market' | 'grants';

/** Follows what players have, as far as chance depends on it: colours, consumables and cards. */
export class Items {
  /** How many things other than dice came up. */
  count = 0;
  readonly #parameters: Json;
  readonly #numbers = { market: 0, grants: 0 };
  readonly #purchases = new Map<string, number>();
  readonly #active = new Set<string>();
  readonly #held = new Map<number, Set<string>>();
  readonly #out = new Set<number>();
  #market = new Map<number, string>();

  constructor(ruleset: Json) {
    this.#parameters = field(ruleset, 'parameters');
  }

  /** Learns from an event. */
  follow(kind: string, fields: Json): void {
    if (kind === 'SeatLeft') this.#out.add(asNumber(field(fields, 'seat')));
    else if (kind === 'SeatTaken') this.#out.delete(asNumber(field(fields, 'seat')));
    else if (kind === 'Drawn' && isObject(fields) && 'place' in fields) {
      this.#market.set(asNumber(field(fields, 'place')), asText(field(fields, 'item')));
    } else if (kind === 'EffectApplied') this.#followEffect(fields);
  }

  /** The sides of the dice that a consumable has loaded. */
  loadedSides(): Json[] | undefined {
    for (const item of this.#consumables()) {
      const effect = field(item, 'effect');
      if (this.#active.has(asText(field(item, 'code'))) && isObject(effect) && effect['sides'] !== undefined) {
        return asList(effect['sides']);
      }
    }
    return undefined;
  }

  /** A colour comes up one time in so many; nothing before its first purchase. */
  colourOdds(index: number, colour: string): number | undefined {
    const bought = this.#purchases.get(colour) ?? 0;
    if (bought === 0) return undefined;
    let odds = asNumber(field(asList(field(this.#parameters, 'colour_table'))[index], 'odds'));
    // 64 halvings make 1 of all odds there can be: whatever a file says, this ends.
    for (let halved = 0; halved < Math.min(bought - 1, 64); halved += 1) odds = Math.ceil(odds / 2);
    return Math.max(odds, asNumber(field(this.#parameters, 'best_odds')));
  }

  /** Draws again what came up in a `Drawn` event. */
  checkDrawn(key: Uint8Array, drawn: Json): void {
    const purpose = purposeOf(drawn);
    this.#numbers[purpose] += 1;
    this.count += 1;
    const choices = this.#choices(purpose);
    const expected = { purpose, number: this.#numbers[purpose], sides: choices.length };
    const [raw = 0] = draw(key, PURPOSES[purpose], expected.number, expected.sides, 1);
    const item = choices[raw - 1] ?? null;
    const found = [field(drawn, 'draw'), field(drawn, 'raw'), field(drawn, 'item')];
    if (!isSame(found, [expected, raw, item])) {
      const message = `draw ${expected.number} of ${purpose} is not what the seeds give`;
      throw new Difference('draws', message, shown([expected, raw, item]), shown(found));
    }
  }

  #followEffect(fields: Json): void {
    const seat = asNumber(field(fields, 'seat'));
    const source = field(fields, 'source');
    if (source === 'renewed') this.#market = new Map();
    else if (isObject(source) && source['bought'] !== undefined) {
      this.#market = new Map([...this.#market].filter(([, card]) => card !== source['bought']));
    }
    for (const change of asList(field(fields, 'changes'))) {
      this.#followChange(seat, field(change, 'what'), field(change, 'after'));
    }
  }

  #followChange(seat: number, what: Json, after: Json): void {
    if (what === 'alive' && !after) this.#out.add(seat);
    if (!isObject(what)) return;
    const [entry, ...others] = Object.entries(what);
    if (entry === undefined || others.length > 0) throw new Unreadable(`expected one measure, found ${shown(what)}`);
    const [measure, code] = entry;
    if (measure === 'purchases') this.#purchases.set(asText(code), asNumber(after));
    else if (measure === 'active' && after) this.#active.add(asText(code));
    else if (measure === 'active') this.#active.delete(asText(code));
    else if (measure === 'held') this.#held.set(seat, new Set(this.#held.get(seat)).add(asText(code)));
  }

  /** What could come up: a card that lies nowhere, a consumable, a side of a coin. */
  #choices(purpose: ItemPurpose): string[] {
    if (purpose === 'grants') {
      return this.#isCoinCalled() ? ['heads', 'tails'] : this.#consumables().map(code);
    }
    const gone = new Set(this.#market.values());
    for (const [seat, cards] of this.#held) {
      if (!this.#out.has(seat)) cards.forEach((card) => gone.add(card));
    }
    return asList(field(this.#parameters, 'cards')).map(code).filter((card) => !gone.has(card));
  }

  /** Whether a consumable waits for a coin. */
  #isCoinCalled(): boolean {
    return this.#consumables().some((item) => {
      const effect = field(item, 'effect');
      return this.#active.has(code(item)) && isObject(effect) && 'multiply_or_nothing' in effect;
    });
  }

  #consumables(): Json[] {
    const { consumables } = isObject(this.#parameters) ? this.#parameters : {};
    return consumables === undefined ? [] : asList(consumables);
  }
}

function purposeOf(drawn: Json): ItemPurpose {
  const purpose = field(field(drawn, 'draw'), 'purpose');
  if (purpose === 'market' || purpose === 'grants') return purpose;
  throw new Difference('draws', `${shown(field(drawn, 'item'))} came up by a draw of ${shown(purpose)}`);
}

function code(item: Json): string {
  return asText(field(item, 'code'));
}
