/**
 * The client of croupier. `createClient` is the beginning; `@croupier/client/verify` has the
 * verifier, which needs no network.
 */
export { Client, createClient } from './client.js';
export type { AskOptions, ClientOptions, CommandOptions, CommandResult, SignedIn, VariablesOf } from './client.js';
export { document } from './document.js';
export type { TypedDocument } from './document.js';
export { RefusedError, RequestError, accepted } from './errors.js';
export type { ErrorBody, RequestErrorCode } from './errors.js';
export type { GameEventsDocumentOf, GameEventsOptions } from './events.js';
export * from './generated.js';
export { moveFrom } from './move.js';
export type { Choice, LegalMove } from './move.js';
export type { RetryPolicy } from './retry.js';
export type { ConnectionState, WebSocketClass } from './socket.js';
export { memoryStorage, webStorage } from './storage.js';
export type { KeyValueStorage, TokenStorage, Tokens } from './storage.js';
export { VERSION } from './version.js';
export type {
  EventFieldsFragment as GameEvent,
  GameFieldsFragment as Game,
  GamePayloadFieldsFragment as GamePayload,
  UserErrorFieldsFragment as UserError,
} from './generated.js';
