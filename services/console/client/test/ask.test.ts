import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  LeaveGameDocument, PlayDocument, RefusedError, RequestError, SignOutDocument, VERSION, ViewerDocument, createClient, document,
} from '@croupier/client';
import type { Client, ClientOptions } from '@croupier/client';
import { BadServer, answer, hangUp, refuse } from './server.js';
import type { Behaviour } from './server.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const FAST = { firstPause: 5, longestPause: 20, attempts: 5 };
const MOVE = { input: { gameId: 'game:1', move: { roll: {} } } };

const servers: BadServer[] = [];
after(() => servers.forEach((server) => server.stop()));

async function against(behave: Behaviour, options: Partial<ClientOptions> = {}): Promise<[Client, BadServer]> {
  const server = await BadServer.start(behave);
  servers.push(server);
  return [createClient({ url: server.url, retry: FAST, ...options }), server];
}

/** Misbehaves so often, then answers. */
const after2 = (misbehave: Behaviour, data: unknown): Behaviour => (got, response, number) =>
  number <= 2 ? misbehave(got, response, number) : answer(response, { data });

const played = { play: { repeated: false, events: [], game: null, userErrors: [] } };

const passing: [string, Behaviour][] = [
  ['a lost connection', (_, response) => hangUp(response)],
  ['a status of 503', (_, response) => answer(response, {}, 503)],
  ['HTML of a proxy', (_, response) => void response.writeHead(502).end('<h1>Bad gateway</h1>')],
  ['BUSY', (_, response) => refuse(response, 'BUSY')],
  ['UNAVAILABLE', (_, response) => refuse(response, 'UNAVAILABLE')],
  ['TIMEOUT', (_, response) => refuse(response, 'TIMEOUT')],
  ['RATE_LIMITED', (_, response) => refuse(response, 'RATE_LIMITED', 429, { 'retry-after': '0' })],
  ['half an answer', (_, response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('{"data":');
    setTimeout(() => hangUp(response), 10);
  }],
];

for (const [name, misbehave] of passing) {
  test(`a command is sent again after ${name}, with the same id`, async () => {
    const [client, server] = await against(after2(misbehave, played));
    assert.deepEqual(await client.ask(PlayDocument, MOVE), played);
    const ids = server.got.map(({ variables }) => variables.input?.command?.id);
    assert.equal(ids.length, 3);
    assert.match(ids[0] ?? '', UUID);
    assert.equal(new Set(ids).size, 1);
  });

  test(`a query is sent again after ${name}`, async () => {
    const [client, server] = await against(after2(misbehave, { viewer: null }));
    assert.equal(await client.viewer(), null);
    assert.equal(server.got.length, 3);
  });
}

test('commands have different ids, and a given id stays', async () => {
  const [client, server] = await against((_, response) => answer(response, { data: played }));
  const command = { id: '00000000-0000-4000-8000-000000000001', expectedVersion: 7 };
  await client.ask(PlayDocument, MOVE);
  await client.ask(PlayDocument, MOVE);
  await client.ask(PlayDocument, { input: { ...MOVE.input, command } });
  const [first, second, third] = server.got.map(({ variables }) => variables.input?.command);
  assert.notEqual(first?.id, second?.id);
  assert.deepEqual(third, command);
  assert.ok(!('command' in MOVE.input), 'the variables of the caller are not changed');
});

test('a mutation without an id is not sent again when it may have been executed', async () => {
  for (const [, misbehave] of passing.filter(([name]) => name !== 'RATE_LIMITED')) {
    const [client, server] = await against(misbehave);
    await assert.rejects(client.ask(SignOutDocument, { input: {} }), RequestError);
    await assert.rejects(client.ask(document('mutation { signOut { ended } }')), RequestError);
    assert.equal(server.got.length, 2);
  }
});

test('a mutation without an id is sent again when it was refused before it was executed', async () => {
  const limited: Behaviour = (_, response) => refuse(response, 'RATE_LIMITED', 429, { 'retry-after': '0' });
  const [client, server] = await against(after2(limited, { signOut: { ended: 1 } }));
  await client.ask(SignOutDocument, { input: {} });
  assert.equal(server.got.length, 3);
});

test('retry-after is waited for', async () => {
  const limited: Behaviour = (_, response) => refuse(response, 'RATE_LIMITED', 429, { 'retry-after': '1' });
  const [client] = await against((got, response, number) =>
    number === 1 ? limited(got, response, number) : answer(response, { data: { viewer: null } }));
  const began = Date.now();
  await client.viewer();
  assert.ok(Date.now() - began >= 1_000);
});

test('after some attempts the last error is thrown, with all that is known', async () => {
  const [client, server] = await against((_, response) => refuse(response, 'BUSY', 200, { 'retry-after': '0' }));
  await assert.rejects(client.ask(PlayDocument, MOVE), {
    name: 'RequestError', code: 'BUSY', message: 'this is BUSY', path: ['play'], requestId: 'request 7', retryAfter: 0, status: 200,
  });
  assert.equal(server.got.length, FAST.attempts);
});

test('what does not pass is thrown at once', async () => {
  for (const code of ['FORBIDDEN', 'BAD_USER_INPUT', 'GRAPHQL_VALIDATION_FAILED', 'INTERNAL_SERVER_ERROR']) {
    const [client, server] = await against((_, response) => refuse(response, code, 200));
    await assert.rejects(client.ask(PlayDocument, MOVE), { code });
    assert.equal(server.got.length, 1);
  }
});

test('a request that gets no answer is given up', async () => {
  const [client, server] = await against(() => undefined, { timeout: 50, retry: { ...FAST, attempts: 2 } });
  await assert.rejects(client.ask(PlayDocument, MOVE), { code: 'NETWORK' });
  assert.equal(server.got.length, 2);
});

test('a signal gives a request up, and its pauses', async () => {
  const slow = { firstPause: 60_000, longestPause: 60_000 };
  const [client] = await against((_, response) => hangUp(response), { retry: slow });
  const reason = new Error('enough');
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 50);
  await assert.rejects(client.ask(ViewerDocument, {}, { signal: controller.signal }), reason);
});

test('clients name themselves', async () => {
  const [client, server] = await against((_, response) => answer(response, { data: { viewer: null } }));
  await client.viewer();
  await createClient({ url: server.url, name: 'my-game/1.2' }).viewer();
  const names = server.got.map(({ headers }) => headers['croupier-client']);
  assert.deepEqual(names, [`croupier-client-js/${VERSION}`, 'my-game/1.2']);
});

test('a refused command throws its user errors and shows its payload', async () => {
  const userErrors = [{ code: 'NOT_SEATED', message: 'you do not sit here', field: null }];
  const payload = { repeated: false, events: [], game: null, userErrors };
  const [client] = await against((_, response) => answer(response, { data: { leaveGame: payload } }));
  const error: unknown = await client.leaveGame('game:1').catch((error: unknown) => error);
  assert.ok(error instanceof RefusedError);
  assert.equal(error.code, 'NOT_SEATED');
  assert.deepEqual(error.payload, payload);
  const { leaveGame } = await client.ask(LeaveGameDocument, { input: { gameId: 'game:1' } });
  assert.deepEqual(leaveGame.userErrors, userErrors);
});
