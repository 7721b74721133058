// The graphql-ws client, as game clients use it: a whole game with a spectator who disconnects and resumes.
import assert from 'node:assert/strict';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';

const [url] = process.argv.slice(2);
const socketUrl = url.replace(/^http/, 'ws');

async function ask(query, variables, token) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json',
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await answer.json();
  assert.equal(errors, undefined, JSON.stringify(errors));
  return data;
}

async function guest(name) {
  const query = 'mutation($name: String) { signInAsGuest(input: { name: $name }) { accessToken } }';
  return (await ask(query, { name })).signInAsGuest.accessToken;
}

const connect = (token) => createClient({
  url: socketUrl, webSocketImpl: WebSocket, retryAttempts: 0, lazy: false,
  connectionParams: { authorization: `Bearer ${token}` },
});

// Collects the results of a subscription until `enough` returns true.
async function listen(client, query, variables, heard, enough) {
  for await (const { data, errors } of client.iterate({ query, variables })) {
    assert.equal(errors, undefined, JSON.stringify(errors));
    heard.push(data);
    if (enough(data)) return;
  }
}

const EVENTS = 'subscription($game: ID!, $after: Int!) { gameEvents(gameId: $game, afterVersion: $after) { version type summary } }';
const MOVE = '{ game { stage toMove { number } bestSelection { slots } } userErrors { code message } }';

async function main() {
  const tokens = [await guest('Ann'), await guest('Bob')];
  const ann = connect(tokens[0]);
  const lobby = [];
  const opened = listen(ann, 'subscription { lobby { id stage seats { number } } }', {}, lobby, () => true);
  const turns = [];
  const turn = listen(ann, 'subscription { myTurn { id toMove { number } } }', {}, turns, () => true);
  await new Promise((resolve) => setTimeout(resolve, 300));

  const created = await ask('mutation { createGame(input: { rules: { farkle: { target: 1500 } } }) { game { id } } }', {}, tokens[0]);
  const game = created.createGame.game.id;
  await opened;
  assert.equal(lobby[0].lobby.id, game);
  await ask('mutation($game: ID!) { joinGame(input: { gameId: $game }) { userErrors { code } } }', { game }, tokens[1]);
  const begun = await ask(`mutation($game: ID!) { startGame(input: { gameId: $game }) ${MOVE} }`, { game }, tokens[1]);
  await turn;
  assert.equal(turns[0].myTurn.id, game);

  // A spectator watches from the beginning, disconnects in the middle, and resumes.
  const spectator = await guest('Eve');
  const events = [];
  const first = connect(spectator);
  const half = listen(first, EVENTS, { game, after: 0 }, events, () => events.length >= 12);
  let table = begun.startGame.game;
  let moves = 0;
  while (table.stage !== 'ENDED') {
    const variables = { game, slots: table.bestSelection?.slots };
    const move = table.bestSelection
      ? `mutation($game: ID!, $slots: [Int!]) { bank: play(input: { gameId: $game, move: { bank: { saveSlots: $slots } } }) ${MOVE} }`
      : `mutation($game: ID!) { roll: play(input: { gameId: $game, move: { roll: {} } }) ${MOVE} }`;
    const done = await ask(move, variables, tokens[table.toMove.number]);
    const { game: after, userErrors } = done.bank ?? done.roll;
    assert.deepEqual(userErrors, []);
    table = after;
    moves += 1;
    if (moves === 12) await half;
  }
  // A short game may end earlier.
  await half;
  await first.dispose();
  const second = connect(spectator);
  const last = events.at(-1).gameEvents.version;
  await listen(second, EVENTS, { game, after: last }, events, (data) => data.gameEvents.type === 'SEED_REVEALED');
  assert.deepEqual(events.map((event) => event.gameEvents.version), events.map((_, index) => index + 1));

  // A query and an invalid document over the same socket.
  const me = [];
  await listen(second, '{ viewer { name } }', {}, me, () => false);
  assert.deepEqual(me, [{ viewer: { name: 'Eve' } }]);
  await assert.rejects(listen(second, '{ nonsense }', {}, [], () => false));
  await Promise.all([ann.dispose(), second.dispose()]);
  console.log(`graphql-ws: a game of ${events.length} events, watched live and resumed`);
}

await main();
process.exit(0);
