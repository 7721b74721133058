import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createClient, memoryStorage, webStorage } from '@croupier/client';
import type { TokenStorage } from '@croupier/client';
import { BadServer, answer, hangUp, refuse, session } from './server.js';
import type { Behaviour, Got } from './server.js';

const servers: BadServer[] = [];
after(() => servers.forEach((server) => server.stop()));

/** A server that accepts one access token and exchanges one refresh token, each once. */
async function strictServer(onExchange: (got: Got, attempt: number) => 'answer' | 'lose' | 'refuse' = () => 'answer') {
  let generation = 0;
  let exchanges = 0;
  const behave: Behaviour = async (got, response) => {
    if (got.query.includes('signInAsGuest')) return answer(response, { data: { signInAsGuest: tokens() } });
    if (got.query.includes('refreshSession')) {
      exchanges += 1;
      const kind = onExchange(got, exchanges);
      if (kind === 'lose') return hangUp(response);
      await new Promise((resolve) => setTimeout(resolve, 50));
      const valid = kind === 'answer' && got.variables.input?.['refreshToken'] === `refresh ${generation}`;
      if (!valid) return answer(response, { data: { refreshSession: refused } });
      generation += 1;
      return answer(response, { data: { refreshSession: tokens() } });
    }
    if (got.headers.authorization !== `Bearer access ${generation}`) return refuse(response, 'UNAUTHENTICATED', 401);
    answer(response, { data: { viewer: { id: 'player:1', name: 'Ann' } } });
  };
  const tokens = () => session(`access ${generation}`, `refresh ${generation}`, lifetime.seconds);
  const lifetime = { seconds: 900 };
  const server = await BadServer.start(behave);
  servers.push(server);
  return {
    url: server.url,
    got: server.got,
    lifetime,
    exchanges: () => exchanges,
  };
}

const refused = {
  accessToken: null, refreshToken: null, accessTokenExpiresAt: null, refreshTokenExpiresAt: null, player: null,
  userErrors: [{ code: 'BAD_REFRESH_TOKEN', message: 'this refresh token was used', field: null }],
};

/** Tokens whose access token the server does not accept. */
function stale(storage: TokenStorage = memoryStorage()): TokenStorage {
  void storage.save({ accessToken: 'an old one', refreshToken: 'refresh 0', refreshAt: Date.now() + 900_000 });
  return storage;
}

test('signing in keeps the tokens, and requests carry them', async () => {
  const server = await strictServer();
  const storage = memoryStorage();
  const client = createClient({ url: server.url, storage });
  assert.deepEqual(await client.signInAsGuest('Ann'), { id: 'player:1', name: 'Ann' });
  assert.equal((await client.viewer())?.name, 'Ann');
  assert.equal((await storage.load())?.refreshToken, 'refresh 0');
  assert.equal(server.exchanges(), 0);
});

test('UNAUTHENTICATED exchanges the token once, for all who wait', async () => {
  const server = await strictServer();
  const client = createClient({ url: server.url, storage: stale() });
  const viewers = await Promise.all(Array.from({ length: 20 }, () => client.viewer()));
  assert.ok(viewers.every((viewer) => viewer?.name === 'Ann'));
  assert.equal(server.exchanges(), 1);
});

test('a token is exchanged before it ends, once', async () => {
  const server = await strictServer();
  const client = createClient({ url: server.url });
  server.lifetime.seconds = 0.2;
  await client.signInAsGuest();
  server.lifetime.seconds = 900;
  await new Promise((resolve) => setTimeout(resolve, 200));
  await Promise.all(Array.from({ length: 10 }, () => client.viewer()));
  assert.equal(server.exchanges(), 1);
  const refusals = server.got.filter(({ headers }) => headers.authorization === 'Bearer access 0');
  assert.equal(refusals.length, 0, 'the old token was not shown any more');
});

test('a lost answer of an exchange is asked for again with the same token', async () => {
  const server = await strictServer((_, attempt) => (attempt === 1 ? 'lose' : 'answer'));
  const client = createClient({ url: server.url, storage: stale() });
  assert.equal((await client.viewer())?.name, 'Ann');
  const shown = server.got.filter(({ query }) => query.includes('refreshSession'));
  assert.deepEqual(shown.map(({ variables }) => variables.input?.['refreshToken']), ['refresh 0', 'refresh 0']);
});

test('a refused exchange signs out, and all who wait are told', async () => {
  const server = await strictServer(() => 'refuse');
  const storage = stale();
  const client = createClient({ url: server.url, storage });
  const answers = await Promise.allSettled([client.viewer(), client.viewer(), client.viewer()]);
  for (const settled of answers) {
    assert.equal(settled.status, 'rejected');
    assert.equal(settled.reason.code, 'UNAUTHENTICATED');
  }
  assert.equal(server.exchanges(), 1);
  assert.equal(await storage.load(), null);
});

test('a token that another tab has exchanged is taken from the storage', async () => {
  const server = await strictServer();
  const items = new Map<string, string>();
  const storage = (): TokenStorage => webStorage({
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  });
  const shared = stale(storage());
  assert.equal((await createClient({ url: server.url, storage: shared }).viewer())?.name, 'Ann');
  assert.equal(server.exchanges(), 1);
  const late = createClient({ url: server.url, storage: { ...shared, load: oldThenStored(shared) } });
  assert.equal((await late.viewer())?.name, 'Ann');
  assert.equal(server.exchanges(), 1);
});

/** A tab that has read the old tokens before the other one exchanged them. */
function oldThenStored(storage: TokenStorage): TokenStorage['load'] {
  let first = true;
  return () => {
    if (!first) return storage.load();
    first = false;
    return { accessToken: 'an old one', refreshToken: 'refresh 0', refreshAt: Date.now() + 900_000 };
  };
}
