import { createClient } from 'graphql-ws/client';
import type { Client as WsClient } from 'graphql-ws/client';
import { RequestError } from './errors.js';
import type { ErrorBody } from './errors.js';
import { Inbox } from './inbox.js';
import type { Session } from './session.js';

/** The class of the browser, or that of the package `ws`. */
export type WebSocketClass = new (url: string, protocol: string) => object;

/** Whether the socket of the subscriptions is open. */
export type ConnectionState = 'connected' | 'disconnected';

export interface SocketOptions {
  /** `ws://…` or `wss://…`. */
  readonly url: string;
  readonly session: Session;
  readonly WebSocket: WebSocketClass | undefined;
  readonly onConnection: ((state: ConnectionState) => void) | undefined;
}

/** A ping after so many milliseconds of silence, and how long its pong may take. */
const PING_AFTER = 10_000;
const PONG_WITHIN = 5_000;

/** One socket for all subscriptions: open while there are any. It never reconnects by itself. */
export class Socket {
  /** The token that the socket was opened with. */
  token: string | null = null;
  #client: WsClient | undefined;

  constructor(private readonly options: SocketOptions) {}

  /** Subscribes once. Throws what ended the subscription, unless the server completed it. */
  async *subscribe(text: string, variables: unknown, signal?: AbortSignal): AsyncGenerator<unknown, void> {
    const inbox = new Inbox<unknown>();
    const stop = (): void => inbox.end();
    const payload = { query: text, variables: variables as Record<string, unknown> };
    const unsubscribe = this.#open().subscribe(payload, {
      next: ({ data, errors }) => {
        if (errors !== undefined) inbox.end({ error: RequestError.of(errors.map(errorBody)) });
        else inbox.push(data);
      },
      error: (error) => inbox.end({ error }),
      complete: () => inbox.end(),
    });
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      for (let got = await inbox.next(); got !== undefined; got = await inbox.next()) yield got.item;
    } finally {
      signal?.removeEventListener('abort', stop);
      unsubscribe();
    }
  }

  /** Closes the socket and with it all subscriptions. */
  async close(): Promise<void> {
    try {
      await this.#client?.dispose();
    } catch {
      // It did not even open.
    }
  }

  #open(): WsClient {
    return (this.#client ??= this.#create());
  }

  #create(): WsClient {
    let pong: ReturnType<typeof setTimeout> | undefined;
    const client = createClient({
      url: this.options.url,
      webSocketImpl: this.options.WebSocket,
      retryAttempts: 0,
      lazyCloseTimeout: 500,
      keepAlive: PING_AFTER,
      connectionAckWaitTimeout: PONG_WITHIN,
      connectionParams: async () => {
        this.token = await this.options.session.token();
        return this.token === null ? undefined : { authorization: `Bearer ${this.token}` };
      },
      on: {
        connected: () => this.options.onConnection?.('connected'),
        closed: () => {
          clearTimeout(pong);
          this.options.onConnection?.('disconnected');
        },
        // A connection that is dead without a word is noticed by the pong that does not come.
        ping: (received) => {
          if (!received) pong = setTimeout(() => client.terminate(), PONG_WITHIN);
        },
        pong: (received) => {
          if (received) clearTimeout(pong);
        },
      },
    });
    return client;
  }
}

/** Their errors as ours: the extensions are those of the server. */
export function errorBody(error: {
  readonly message: string;
  readonly path?: ReadonlyArray<string | number> | undefined;
  readonly extensions?: object | undefined;
}): ErrorBody {
  return {
    message: error.message,
    ...(error.path && { path: error.path }),
    ...(error.extensions && { extensions: error.extensions }),
  };
}
