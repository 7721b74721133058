import { isRepeatable, withCommandIds } from './command.js';
import { readOperation } from './document.js';
import type { Operation, TypedDocument } from './document.js';
import { RequestError, accepted } from './errors.js';
import { DEFAULT_EVENTS, gameEvents } from './events.js';
import type { GameEventsOptions } from './events.js';
import { follow } from './follow.js';
import * as api from './generated.js';
import { post } from './http.js';
import type { HttpOptions } from './http.js';
import { DEFAULT_RETRY, isBeforeExecution, withRetries } from './retry.js';
import type { RetryPolicy } from './retry.js';
import { Session } from './session.js';
import { Socket } from './socket.js';
import type { ConnectionState, WebSocketClass } from './socket.js';
import { memoryStorage } from './storage.js';
import type { TokenStorage } from './storage.js';
import { VERSION } from './version.js';

export interface ClientOptions {
  /** The GraphQL endpoint: `https://…/graphql`, or `/graphql` in a page of the same server. */
  readonly url: string;
  /** Where tokens are kept; in memory if left out. */
  readonly storage?: TokenStorage;
  /** The name and version of your game, for the server's operators: `my-game/1.2`. */
  readonly name?: string;
  /** Instead of the global one. */
  readonly fetch?: typeof fetch;
  /** Instead of the global one, which Node has from version 22 on: the class of the package `ws`. */
  readonly WebSocket?: WebSocketClass;
  /** How requests are sent again. */
  readonly retry?: Partial<RetryPolicy>;
  /** How long to wait for an answer, in milliseconds; 15,000 if left out. */
  readonly timeout?: number;
  /** Called whenever the socket of the subscriptions opens and closes. */
  readonly onConnection?: (state: ConnectionState) => void;
}

export interface AskOptions {
  /** Gives the request up. */
  readonly signal?: AbortSignal;
}

/** The variables of a document; they may be left out if none of them is required. */
export type VariablesOf<Variables> =
  Record<string, never> extends Variables
    ? [variables?: Variables, options?: AskOptions]
    : [variables: Variables, options?: AskOptions];

/** An input without the idempotency key, which the client adds; give `command` to choose your own. */
export type CommandOptions = api.CommandInput;

/** Makes a client. It connects when it is used. */
export function createClient(options: ClientOptions): Client {
  return new Client(options);
}

/** One player's connection to a croupier server. */
export class Client {
  readonly #http: HttpOptions;
  readonly #retry: RetryPolicy;
  readonly #session: Session;
  readonly #socket: Socket;

  constructor(options: ClientOptions) {
    const url = new URL(options.url, globalThis.location?.href);
    this.#http = {
      url: url.href,
      fetch: options.fetch ?? ((...request) => fetch(...request)),
      clientName: options.name ?? `croupier-client-js/${VERSION}`,
      timeout: options.timeout ?? 15_000,
    };
    this.#retry = { ...DEFAULT_RETRY, ...options.retry };
    this.#session = new Session(options.storage ?? memoryStorage(), async (refreshToken) => {
      const variables = { input: { refreshToken } };
      return (await this.#once(api.RefreshSessionDocument, variables, null)).refreshSession;
    });
    this.#socket = new Socket({
      url: url.href.replace(/^http/, 'ws'),
      session: this.#session,
      WebSocket: options.WebSocket,
      onConnection: options.onConnection,
    });
  }

  /**
   * Sends a query or a mutation and gives its data; throws `RequestError`.
   *
   * Queries are sent again after failures that pass. So are mutations with an idempotency key: those
   * whose input has `command`. They get a `command.id` if you give none, the same in each attempt.
   */
  async ask<Result, Variables>(
    document: TypedDocument<Result, Variables>,
    ...[variables, options]: VariablesOf<Variables>
  ): Promise<Result> {
    const operation = readOperation(document);
    const keyed = withCommandIds(operation, variables);
    const repeatable = isRepeatable(operation);
    return (await withRetries(
      () => this.#withToken(operation, keyed, repeatable, options?.signal),
      (error) => repeatable || isBeforeExecution(error),
      this.#retry,
      options?.signal,
    )) as Result;
  }

  /**
   * Follows a subscription of any kind. After a break it is made again, and what happened meanwhile
   * is missing: for the events of a game use `gameEvents`.
   */
  subscribe<Result, Variables>(
    document: TypedDocument<Result, Variables>,
    ...[variables, options]: VariablesOf<Variables>
  ): AsyncGenerator<Result, void> {
    return follow(this.#socket, this.#session, document, () => variables as Variables, options?.signal);
  }

  /**
   * The events of a game: each one once, in order, until the game is over. It goes on by itself
   * after a lost connection, a restarted server and an expired token.
   */
  gameEvents<Event extends { readonly version: number } = api.EventFieldsFragment>(
    gameId: string,
    options: GameEventsOptions<Event> & { readonly document: NonNullable<GameEventsOptions<Event>['document']> },
  ): AsyncGenerator<Event, void>;
  gameEvents(gameId: string, options?: GameEventsOptions): AsyncGenerator<api.EventFieldsFragment, void>;
  gameEvents(gameId: string, options: GameEventsOptions = {}): AsyncGenerator<api.EventFieldsFragment, void> {
    const { inviteCode, signal } = options;
    const status = async () => {
      const variables = { id: gameId, ...(inviteCode !== undefined && { inviteCode }) };
      return (await this.ask(api.GameStatusDocument, variables, signal && { signal })).game;
    };
    const document = options.document ?? DEFAULT_EVENTS;
    return gameEvents(this.#socket, this.#session, status, gameId, document, options);
  }

  /** Closes the socket; subscriptions end with an error. The tokens stay where they are kept. */
  async close(): Promise<void> {
    await this.#socket.close();
  }

  // --- Who plays ---------------------------------------------------------------------------------

  /** Begins as a guest, without a password. */
  async signInAsGuest(name?: string): Promise<SignedIn> {
    const variables = { input: name === undefined ? {} : { name } };
    return this.#begin((await this.ask(api.SignInAsGuestDocument, variables)).signInAsGuest);
  }

  /** Signs in with name and password. */
  async signIn(name: string, password: string): Promise<SignedIn> {
    return this.#begin((await this.ask(api.SignInDocument, { input: { name, password } })).signIn);
  }

  /** Makes an account with a password; a guest keeps games and id. */
  async register(name: string, password: string): Promise<SignedIn> {
    return this.#begin((await this.ask(api.RegisterDocument, { input: { name, password } })).register);
  }

  /** Ends this session, or all of them, and forgets the tokens. */
  async signOut(everywhere = false): Promise<void> {
    await this.ask(api.SignOutDocument, { input: { everywhere } });
    await this.#session.end();
  }

  /** Who is signed in; null if nobody is. */
  async viewer(): Promise<api.ViewerQuery['viewer']> {
    return (await this.ask(api.ViewerDocument)).viewer;
  }

  // --- Games -------------------------------------------------------------------------------------
  // Each command gives its payload or throws `RefusedError`. To look at refusals without an error,
  // ask with the document: `client.ask(PlayDocument, { input }).play.userErrors`.

  /** A game as it is now; null if there is none, or you may not see it. */
  async game(id: string, inviteCode?: string): Promise<api.GameFieldsFragment | null> {
    return (await this.ask(api.GameDocument, { id, ...(inviteCode !== undefined && { inviteCode }) })).game;
  }

  /** The rule presets of a game, or of all. */
  async presets(kind?: api.GameKind): Promise<api.PresetsQuery['presets']> {
    return (await this.ask(api.PresetsDocument, kind === undefined ? {} : { kind })).presets;
  }

  /** Opens a table. Give your seed afterwards with `chooseSeed`. */
  async createGame(input: api.CreateGameInput): Promise<CommandResult> {
    return result((await this.ask(api.CreateGameDocument, { input })).createGame);
  }

  /** Takes a seat: of a public game by `gameId`, of a private one by `inviteCode`. */
  async joinGame(input: api.JoinGameInput): Promise<CommandResult> {
    return result((await this.ask(api.JoinGameDocument, { input })).joinGame);
  }

  /** Finds an opponent, or a table to wait at. The game begins by itself. */
  async quickMatch(input: api.QuickMatchInput): Promise<CommandResult> {
    return result((await this.ask(api.QuickMatchDocument, { input })).quickMatch);
  }

  /** Gives or replaces what you add to the dice: any text up to 64 bytes. */
  async chooseSeed(gameId: string, seed: string, command?: CommandOptions): Promise<CommandResult> {
    const input = { gameId, seed, ...(command && { command }) };
    return result((await this.ask(api.ChooseSeedDocument, { input })).chooseSeed);
  }

  /** Chooses a character, in games that have them. */
  async chooseCharacter(gameId: string, character: string, command?: CommandOptions): Promise<CommandResult> {
    const input = { gameId, character, ...(command && { command }) };
    return result((await this.ask(api.ChooseCharacterDocument, { input })).chooseCharacter);
  }

  /** Chooses the dice you play with, by their codes, one per slot. */
  async chooseLoadout(gameId: string, dice: string[], command?: CommandOptions): Promise<CommandResult> {
    const input = { gameId, dice, ...(command && { command }) };
    return result((await this.ask(api.ChooseLoadoutDocument, { input })).chooseLoadout);
  }

  /** Begins the game: the seeds are sealed. */
  async startGame(gameId: string, command?: CommandOptions): Promise<CommandResult> {
    const input = { gameId, ...(command && { command }) };
    return result((await this.ask(api.StartGameDocument, { input })).startGame);
  }

  /** Gives your seat up. */
  async leaveGame(gameId: string, command?: CommandOptions): Promise<CommandResult> {
    const input = { gameId, ...(command && { command }) };
    return result((await this.ask(api.LeaveGameDocument, { input })).leaveGame);
  }

  /** Makes a move. `moveFrom` makes one of what `game.legalMoves` lists. */
  async play(gameId: string, move: api.MoveInput, command?: CommandOptions): Promise<CommandResult> {
    const input = { gameId, move, ...(command && { command }) };
    return result((await this.ask(api.PlayDocument, { input })).play);
  }

  /** A finished game that you played, as a file: `verifyProof` checks the format `PROOF`. */
  async exportGame(gameId: string, format: api.ReplayFormat): Promise<string | null> {
    return (await this.ask(api.ExportGameDocument, { gameId, format })).replay?.export ?? null;
  }

  // -----------------------------------------------------------------------------------------------

  async #begin(payload: api.SessionFieldsFragment): Promise<SignedIn> {
    const { player } = accepted(payload);
    await this.#session.begin(payload);
    if (player === null) throw new RequestError('BAD_RESPONSE', [{ message: 'the server sent no player' }]);
    return player;
  }

  /** Sends a request with a valid token, and again with another one if it was not accepted. */
  async #withToken(
    operation: Operation,
    variables: unknown,
    repeatable: boolean,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const token = await this.#session.token();
    const send = (token: string | null): Promise<unknown> =>
      post(this.#http, { text: operation.text, variables, token, signal });
    try {
      return await send(token);
    } catch (error) {
      const refused = error instanceof RequestError && error.code === 'UNAUTHENTICATED';
      if (!refused || token === null || !(repeatable || isBeforeExecution(error))) throw error;
      return send(await this.#session.renew(token));
    }
  }

  async #once<Result, Variables>(
    document: TypedDocument<Result, Variables>,
    variables: Variables,
    token: string | null,
  ): Promise<Result> {
    const request = { text: document.toString(), variables, token, signal: undefined };
    return (await post(this.#http, request)) as Result;
  }
}

/** Who has signed in. */
export type SignedIn = NonNullable<api.SessionFieldsFragment['player']>;

/** What a command did: its events and the game after it. */
export type CommandResult = api.GamePayloadFieldsFragment & { readonly game: api.GameFieldsFragment };

/** An accepted command always has a game. */
function result(payload: api.GamePayloadFieldsFragment): CommandResult {
  const { game } = accepted(payload);
  if (game === null) throw new RequestError('BAD_RESPONSE', [{ message: 'the server sent no game' }]);
  return { ...payload, game };
}
