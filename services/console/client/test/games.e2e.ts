// Whole games of every kind by what they list, through restarts of the server, each one watched and verified.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { createClient } from '@croupier/client';
import type { Client, ConnectionState, Game, GameKind, RulesInput } from '@croupier/client';
import { verdictOf, verifyEvents, verifyProof, verifyRecord } from '@croupier/client/verify';
import { anyMove, randomFrom } from './bot.js';
import { CROUPIER, ServerNode } from './node.js';

/** Small rules, so that games are short. Games that may end in a few moves wait until the node is down. */
const GAMES: ReadonlyArray<{ kind: GameKind; seats: number; rules: RulesInput }> = [
  { kind: 'FARKLE', seats: 2, rules: { farkle: { target: 3_000, penaltyPoints: 0 } } },
  { kind: 'ZERO_HOUR', seats: 2, rules: { zeroHour: { start: 60, overshootTo: 20 } } },
  { kind: 'LAST_LINE', seats: 3, rules: { other: { kind: 'LAST_LINE' } } },
  { kind: 'TRUE_GRIT', seats: 3, rules: { other: { kind: 'TRUE_GRIT' } } },
  { kind: 'DICE_ROGUE', seats: 1, rules: { other: { kind: 'DICE_ROGUE', custom: { rounds: [{ reward: 500, target: 10 }, { reward: 100, target: 60 }], openingShop: true } } } },
  { kind: 'NEONPOLIS', seats: 3, rules: { other: { kind: 'NEONPOLIS', custom: { goal: 8, hp: 6 } } } },
  { kind: 'PIG', seats: 2, rules: { other: { kind: 'PIG', custom: { target: 40 } } } },
];

/** When the node is restarted: as soon as every game has so many moves, or is over. */
const RESTARTS = [
  { moves: 2, signal: 'SIGTERM' },
  { moves: 8, signal: 'SIGKILL' },
] as const;

/** A promise that somebody else keeps. */
class Deferred {
  resolve: () => void = () => undefined;
  reject: (reason: unknown) => void = () => undefined;
  readonly promise = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}

/** Holds every game at the same number of moves, and restarts the node under all of them. */
class Gate {
  readonly #waiting = new Set<GameKind>();
  #restarting = false;
  readonly #began = new Deferred();
  readonly #down = new Deferred();
  readonly up = new Deferred();

  constructor(private readonly restart: (whenDown: () => void) => Promise<void>) {}

  /** Gives promises of the moment when the node begins to stop, and of when it is gone. */
  arrive(kind: GameKind): { readonly began: Promise<void>; readonly down: Promise<void> } {
    this.#waiting.add(kind);
    if (this.#waiting.size === GAMES.length && !this.#restarting) {
      this.#restarting = true;
      const restarted = this.restart(this.#down.resolve);
      this.#began.resolve();
      restarted.then(this.up.resolve, this.up.reject);
    }
    return { began: this.#began.promise, down: this.#down.promise };
  }
}

let node: ServerNode;
let gates: Gate[];
const clients: Client[] = [];
const listed = new Set<string>();

before(async () => {
  assert.ok(CROUPIER, 'set CROUPIER to the program of the server');
  node = await ServerNode.start(CROUPIER);
  gates = RESTARTS.map(({ signal }) => new Gate((whenDown) => node.restart(signal, whenDown)));
});

after(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await node.stop();
  console.log(`moves played: ${[...listed].sort().join(' ')}`);
});

test('a game of each kind', { concurrency: GAMES.length }, async (context) => {
  const games = GAMES.map(({ kind, seats, rules }, index) =>
    context.test(`${kind}: played, watched through restarts, and verified`, async () => {
      const players = await Promise.all(Array.from({ length: seats }, (_, seat) => guest(`${kind} ${seat}`)));
      const opened = await open(players, rules);
      const watching = watch(opened.id);
      // If the game itself fails, that is what is reported.
      watching.catch(() => undefined);
      const ended = await play(kind, opened, players, randomFrom(index + 1)).finally(() => {
        // A game that is over, or has failed, holds nobody up.
        for (const gate of gates) void gate.arrive(kind);
      });
      const versions = Array.from({ length: ended.version }, (_, version) => version + 1);
      const watched = await watching;
      assert.deepEqual(watched.versions, versions, 'each event once, in order');
      assert.ok(watched.breaks >= 1, 'the spectator saw no restart');
      await verify(players, opened, ended);
    }),
  );
  await Promise.all(games);
  await Promise.all(gates.map((gate) => gate.up.promise));
  assert.equal(node.log, '', 'the node complained');
});

async function guest(name: string, onConnection: (state: ConnectionState) => void = () => undefined): Promise<Client> {
  const client = createClient({ url: node.url, WebSocket, name: 'end-to-end/1', onConnection });
  clients.push(client);
  await client.signInAsGuest(name.toLowerCase());
  return client;
}

/** A table with everybody at it and everybody's seed in it. */
async function open(players: Client[], rules: RulesInput): Promise<Game> {
  const [first, ...others] = players;
  assert.ok(first);
  const { game } = await first.createGame({ rules });
  await first.chooseSeed(game.id, seedOf(0));
  for (const [index, player] of others.entries()) {
    await player.joinGame({ gameId: game.id, seed: seedOf(index + 1) });
  }
  return (await first.startGame(game.id)).game;
}

/** The versions a spectator sees, and how often the connection broke meanwhile. */
async function watch(gameId: string): Promise<{ readonly versions: number[]; readonly breaks: number }> {
  let breaks = 0;
  const spectator = await guest('spectator', (state) => {
    if (state === 'disconnected') breaks += 1;
  });
  const versions: number[] = [];
  for await (const event of spectator.gameEvents(gameId)) versions.push(event.version);
  return { versions, breaks };
}

async function play(kind: GameKind, opened: Game, players: Client[], random: () => number): Promise<Game> {
  let game = opened;
  for (let moves = 0; game.stage === 'PLAYING'; moves += 1) {
    assert.ok(moves < 2_000, 'the game does not end');
    const at = RESTARTS.findIndex((restart) => restart.moves === moves);
    if (at >= 0) await standAtGate(at, kind);
    const player = players[game.toMove?.number ?? -1];
    assert.ok(player, 'nobody is to move');
    const { legal, move } = anyMove(game, random);
    listed.add(legal.__typename);
    ({ game } = await player.play(game.id, move, { expectedVersion: game.version }));
  }
  return game;
}

/** Some games play on while the node stops, so that commands get lost; the others wait until it is gone. */
async function standAtGate(at: number, kind: GameKind): Promise<void> {
  const gate = gates[at]?.arrive(kind);
  const playsOn = ['FARKLE', 'ZERO_HOUR', 'NEONPOLIS', 'DICE_ROGUE'].includes(kind);
  await (playsOn ? gate?.began : gate?.down);
}

async function verify(players: Client[], opened: Game, ended: Game): Promise<void> {
  const last = players.at(-1);
  const known = {
    game: opened.id,
    commitment: opened.fairness.commitment,
    seeds: new Map(players.map((_, seat) => [seat, seedOf(seat)])),
  };
  const proof = verifyProof((await last?.exportGame(ended.id, 'PROOF')) ?? '', known);
  const events = verifyEvents((await last?.exportGame(ended.id, 'NDJSON')) ?? '', known);
  const record = verifyRecord((await last?.exportGame(ended.id, 'RECORD')) ?? '', known);
  for (const checks of [proof, events, record]) {
    assert.equal(verdictOf(checks), 'holds', JSON.stringify(checks.filter(({ ok }) => !ok)));
  }
}

function seedOf(seat: number): string {
  return `seed of ${seat} 🎲`;
}
