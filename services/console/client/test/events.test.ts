import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { createClient, memoryStorage } from '@croupier/client';
import type { Client, GameEvent } from '@croupier/client';
import { BadServer, answer, session } from './server.js';

const LAST = 9;
const servers: BadServer[] = [];
after(() => servers.forEach((server) => server.stop()));

/** What a subscription does after it was asked for the events behind a version. */
type Script = (connection: Connection, afterVersion: number, attempt: number) => void;

interface Connection {
  readonly token: string | undefined;
  /** Sends the events from one version to another. */
  send(from: number, to: number): void;
  complete(): void;
  close(code: number): void;
  /** Goes away without a word. */
  cut(): void;
  /** Ends the subscription with a GraphQL error. */
  fail(code: string): void;
}

interface Message {
  readonly type: string;
  readonly id: string;
  readonly payload?: { readonly authorization?: string; readonly variables?: { readonly afterVersion: number } };
}

/** A server whose game has nine events, and whose sockets do what a script says. */
async function scripted(script: Script, onInit: (token: string | undefined) => number | undefined = () => undefined) {
  const tokens: (string | undefined)[] = [];
  let attempts = 0;
  let generation = 0;
  let connections = 0;
  const server = await BadServer.start(({ query }, response) => {
    if (query.includes('refreshSession')) {
      generation += 1;
      return answer(response, { data: { refreshSession: session(`access ${generation}`, `refresh ${generation}`) } });
    }
    answer(response, { data: { game: { id: 'game:1', stage: 'ENDED', version: LAST } } });
  });
  servers.push(server);
  const sockets = new WebSocketServer({ server: server.http, path: '/graphql', handleProtocols: () => 'graphql-transport-ws' });
  sockets.on('connection', (socket) => {
    connections += 1;
    let token: string | undefined;
    const say = (message: object): void => socket.send(JSON.stringify(message));
    socket.on('message', (data) => {
      const message: Message = JSON.parse(String(data));
      if (message.type === 'connection_init') {
        token = message.payload?.authorization;
        tokens.push(token);
        const refusal = onInit(token);
        if (refusal !== undefined) socket.close(refusal);
        else say({ type: 'connection_ack' });
      } else if (message.type === 'subscribe') {
        const { id } = message;
        attempts += 1;
        const connection: Connection = {
          token,
          send: (from, to) => {
            for (let version = from; version <= to; version += 1) {
              say({ type: 'next', id, payload: { data: { gameEvents: { version } } } });
            }
          },
          complete: () => say({ type: 'complete', id }),
          close: (code) => socket.close(code),
          cut: () => socket.terminate(),
          fail: (code) => say({ type: 'error', id, payload: [{ message: code, extensions: { code } }] }),
        };
        script(connection, message.payload?.variables?.afterVersion ?? -1, attempts);
      }
    });
  });
  const storage = memoryStorage({ accessToken: 'access 0', refreshToken: 'refresh 0', refreshAt: Date.now() + 900_000 });
  const client = createClient({ url: server.url, storage, WebSocket });
  return { client, tokens, attempts: () => attempts, connections: () => connections };
}

async function versions(client: Client, afterVersion = 0): Promise<number[]> {
  const found: number[] = [];
  for await (const event of client.gameEvents('game:1', { afterVersion })) found.push(event.version);
  await client.close();
  return found;
}

const ALL = Array.from({ length: LAST }, (_, index) => index + 1);

/** Three events, then something happens; the rest in the next attempt. */
const inTwoParts = (happens: (connection: Connection) => void): Script => (connection, afterVersion, attempt) => {
  if (attempt === 1) {
    connection.send(afterVersion + 1, afterVersion + 3);
    happens(connection);
  } else {
    connection.send(afterVersion + 1, LAST);
    connection.complete();
  }
};

for (const code of [1001, 1011, 1012, 4008, 4401, 4403]) {
  test(`goes on after the close code ${code}`, async () => {
    const { client, attempts, tokens } = await scripted(inTwoParts((connection) => connection.close(code)));
    assert.deepEqual(await versions(client), ALL);
    assert.equal(attempts(), 2);
    const renewed = code === 4401 || code === 4403;
    assert.equal(tokens[1], renewed ? 'Bearer access 1' : 'Bearer access 0');
  });
}

test('goes on after a cut connection', async () => {
  const { client } = await scripted(inTwoParts((connection) => connection.cut()));
  assert.deepEqual(await versions(client), ALL);
});

test('goes on after an error that passes', async () => {
  for (const code of ['UNAVAILABLE', 'BUSY', 'TIMEOUT', 'RATE_LIMITED', 'UNAUTHENTICATED']) {
    const { client } = await scripted(inTwoParts((connection) => connection.fail(code)));
    assert.deepEqual(await versions(client), ALL);
  }
});

test('begins behind a version', async () => {
  const { client } = await scripted(inTwoParts((connection) => connection.cut()));
  assert.deepEqual(await versions(client, 4), ALL.slice(4));
});

test('an event that comes twice is given once', async () => {
  const { client } = await scripted((connection) => {
    connection.send(1, 5);
    connection.send(3, LAST);
    connection.complete();
  });
  assert.deepEqual(await versions(client), ALL);
});

test('an event that is missing is asked for', async () => {
  const { client, attempts } = await scripted((connection, afterVersion, attempt) => {
    if (attempt === 1) {
      connection.send(1, 3);
      connection.send(5, LAST);
    } else {
      connection.send(afterVersion + 1, LAST);
    }
    connection.complete();
  });
  assert.deepEqual(await versions(client), ALL);
  assert.equal(attempts(), 2);
});

test('a subscription that is completed before the game is over is made again', async () => {
  const { client } = await scripted(inTwoParts((connection) => connection.complete()));
  assert.deepEqual(await versions(client), ALL);
});

test('a token that is refused again and again is an error', async () => {
  const { client, tokens } = await scripted(() => undefined, () => 4403);
  await assert.rejects(versions(client), { code: 'UNAUTHENTICATED' });
  assert.deepEqual(tokens, ['Bearer access 0', 'Bearer access 1']);
});

test('errors that do not pass are thrown', async () => {
  for (const code of ['FORBIDDEN', 'BAD_USER_INPUT']) {
    const { client, attempts } = await scripted((connection) => connection.fail(code));
    await assert.rejects(versions(client), { code });
    assert.equal(attempts(), 1);
  }
  for (const code of [4400, 4406, 4409, 4429]) {
    const { client } = await scripted((connection) => connection.close(code));
    await assert.rejects(versions(client), { code: 'BAD_RESPONSE' });
  }
});

test('a signal ends it, while it waits and while it pauses', async () => {
  for (const script of [(): void => undefined, (connection: Connection): void => connection.cut()]) {
    const { client } = await scripted(script);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    const found: GameEvent[] = [];
    for await (const event of client.gameEvents('game:1', { signal: controller.signal })) found.push(event);
    assert.deepEqual(found, []);
    await client.close();
  }
});

test('all subscriptions share one socket', async () => {
  const { client, connections } = await scripted((connection) => {
    connection.send(1, LAST);
    setTimeout(() => connection.complete(), 50);
  });
  const followers = Array.from({ length: 5 }, async () => {
    const found: number[] = [];
    for await (const event of client.gameEvents('game:1')) found.push(event.version);
    return found;
  });
  for (const found of await Promise.all(followers)) assert.deepEqual(found, ALL);
  assert.equal(connections(), 1);
  await client.close();
});
