import { PURPOSES, draw, pick } from './fair.js';
import type { Items } from './items.js';
import { asList, asNumber, asText, field, isObject, isSame, shown } from './json.js';
import type { Json } from './json.js';
import { Difference, Unreadable } from './report.js';

const COLOURS = ['blue', 'green', 'red', 'purple', 'yellow'];
const ORDINARY = 'STANDARD';

/** What a roll is judged by. */
export interface RollContext {
  readonly key: Uint8Array;
  /** The n-th roll of the game has the number n. */
  readonly number: number;
  readonly ruleset: Json;
  readonly items: Items;
  /** The codes of the seat's dice, if it chose some. */
  readonly loadout: Json[] | undefined;
}

/** Draws a roll again: its values, what the dice show of them, and their colours. */
export function checkRoll(roll: Json, context: RollContext): void {
  const weights = ticketWeights(context.ruleset);
  const slots = asList(field(roll, 'slots'));
  const expected = drawValues(context, weights, slots.length);
  const found = [field(roll, 'draw'), field(roll, 'raw')];
  if (!isSame(found, [expected.draw, expected.raw])) {
    const message = `roll ${context.number} is not what the seeds give`;
    throw new Difference('rolls', message, shown([expected.draw, expected.raw]), shown(found));
  }
  const shows = weights ? ticketFaces(weights, expected.raw) : facesOf(expected.raw, slots, context);
  const faces = field(roll, 'faces');
  if (!isSame(faces, shows)) {
    throw new Difference('rolls', `roll ${context.number} shows other faces`, shown(shows), shown(faces));
  }
  checkColours(roll, slots.length, context);
}

/** The sides of a draw of dice under these rules: six, or all tickets of True Grit. */
export function sidesOf(ruleset: Json): number {
  return ticketWeights(ruleset)?.reduce((sum, weight) => sum + weight, 0) ?? 6;
}

function drawValues(
  { key, number, ruleset }: RollContext,
  weights: number[] | undefined,
  slots: number,
): { draw: Json; raw: number[] } {
  const sides = sidesOf(ruleset);
  const raw = draw(key, PURPOSES.dice, number, sides, weights ? 1 : slots);
  return { draw: { purpose: 'dice', number, sides }, raw };
}

/** True Grit draws one ticket for both dice: the tickets of the 36 rolls, the first die counting sixes. */
function ticketWeights(ruleset: Json): number[] | undefined {
  if (field(ruleset, 'game') !== 'true_grit') return undefined;
  const parameters = field(ruleset, 'parameters');
  const single = asNumber(field(parameters, 'single_one_weight'));
  const other = asNumber(field(parameters, 'other_weight'));
  return Array.from({ length: 36 }, (_, n) => (n < 6 !== (n % 6 === 0) ? single : other));
}

function ticketFaces(weights: number[], [ticket = 0]: number[]): number[] {
  const entry = pick(weights, ticket);
  return [Math.floor(entry / 6) + 1, (entry % 6) + 1];
}

/** An ordinary die shows its value, a special one with faces of its own shows one of these. */
function facesOf(raw: number[], slots: Json[], { ruleset, items, loadout }: RollContext): Json[] {
  const special = specialFaces(field(ruleset, 'parameters'));
  const plain = items.loadedSides() ?? [1, 2, 3, 4, 5, 6];
  return raw.map((value, index) => {
    const code = loadout ? loadout[asNumber(slots[index] ?? null)] : ORDINARY;
    const face = (special.get(asText(code ?? null)) ?? plain)[value - 1];
    if (face === undefined) throw new Unreadable(`a die without a side ${value}`);
    return face;
  });
}

function specialFaces(parameters: Json): Map<string, Json[]> {
  const faces = new Map<string, Json[]>();
  const catalogue = isObject(parameters) ? parameters['catalogue'] : undefined;
  for (const die of catalogue ? asList(field(catalogue, 'dice')) : []) {
    const effect = field(die, 'effect');
    if (field(effect, 'kind') === 'faces') faces.set(asText(field(die, 'code')), asList(field(effect, 'faces')));
  }
  return faces;
}

/** Every colour that was bought is tried on every die of the roll; the first hit wins. */
function checkColours(roll: Json, dice: number, { key, number, ruleset, items }: RollContext): void {
  const found = isObject(roll) ? roll['colours'] : undefined;
  if (field(ruleset, 'game') !== 'dice_rogue' || !field(field(ruleset, 'parameters'), 'colours')) {
    if (found !== undefined) throw new Difference('rolls', `roll ${number} has colours in a game without`);
    return;
  }
  let codes: string[] = Array.from({ length: dice }, () => ORDINARY);
  const draws: Json[] = [];
  for (const [index, colour] of COLOURS.entries()) {
    const sides = items.colourOdds(index, colour);
    if (sides === undefined) continue;
    const which = { purpose: 'colours', number: (number - 1) * COLOURS.length + index + 1, sides };
    const raw = draw(key, PURPOSES.colours, which.number, sides, dice);
    const code = colour.toUpperCase();
    draws.push({ code, draw: which, raw });
    codes = codes.map((before, die) => (before === ORDINARY && raw[die] === 1 ? code : before));
  }
  const expected = draws.length > 0 ? { codes, draws } : null;
  if (!isSame(found ?? null, expected)) {
    throw new Difference('rolls', `the colours of roll ${number} are not what the seeds give`, shown(expected), shown(found));
  }
}
