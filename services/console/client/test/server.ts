import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the server got it. */
export interface Got {
  readonly headers: IncomingHttpHeaders;
  readonly query: string;
  readonly variables: { readonly input?: { readonly command?: { readonly id?: string } & Fields } & Fields } & Fields;
}

type Fields = Record<string, unknown>;

/** How the server answers its n-th request. */
export type Behaviour = (got: Got, response: ServerResponse, number: number) => void | Promise<void>;

/** A small HTTP server that behaves as a test wants: real sockets, no rules of ours. */
export class BadServer {
  readonly got: Got[] = [];
  readonly #server: Server;

  private constructor(behave: Behaviour) {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body: Pick<Got, 'query' | 'variables'> = JSON.parse(Buffer.concat(chunks).toString());
        const got = { headers: request.headers, ...body };
        void behave(got, response, this.got.push(got));
      });
    });
  }

  static async start(behave: Behaviour): Promise<BadServer> {
    const server = new BadServer(behave);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/graphql`;
  }

  /** The underlying server, to upgrade sockets on. */
  get http(): Server {
    return this.#server;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

export function answer(response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** An answer with one GraphQL error. */
export function refuse(response: ServerResponse, code: string, status = 200, headers: Record<string, string> = {}): void {
  const extensions = { code, requestId: 'request 7' };
  answer(response, { errors: [{ message: `this is ${code}`, path: ['play'], extensions }] }, status, headers);
}

/** Cuts the connection instead of answering. */
export function hangUp(response: ServerResponse): void {
  response.socket?.destroy();
}

/** What signing in and exchanging tokens answers. */
export function session(accessToken: string, refreshToken: string, seconds = 900): Fields {
  const moment = (ms: number): string => new Date(Date.now() + ms).toISOString();
  return {
    accessToken,
    refreshToken,
    accessTokenExpiresAt: moment(seconds * 1_000),
    refreshTokenExpiresAt: moment(86_400_000),
    player: { id: 'player:1', name: 'Ann' },
    userErrors: [],
  };
}
