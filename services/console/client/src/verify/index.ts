/**
 * Checks finished games without a network and without trusting the server: `verifyProof` a proof
 * bundle, `verifyEvents` the events of a game, `verifyRecord` a game as text.
 *
 * It checks the dice and the log. That the points follow from the dice is a matter of the rules,
 * which `croupier verify` decides again.
 */
export { commitment, diceKey, draw, pick, rulesetHash, seedsHash } from './fair.js';
export { verifyEvents } from './dice.js';
export { parseJson } from './json.js';
export type { Json, JsonObject } from './json.js';
export { verifyProof } from './proof.js';
export { verifyRecord } from './record.js';
export { verdictOf } from './report.js';
export type { Check, CheckName, Known, Verdict } from './report.js';
