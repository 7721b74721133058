// The examples of the README and of the documentation, as a newcomer runs them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CROUPIER, ServerNode } from './node.js';
import { ROOT } from './vectors.js';

const run = promisify(execFile);
const example = (name: string): string => fileURLToPath(new URL(`../examples/${name}.js`, import.meta.url));
let node: ServerNode;

before(async () => {
  assert.ok(CROUPIER, 'set CROUPIER to the program of the server');
  node = await ServerNode.start(CROUPIER);
});

after(() => node.stop());

test('the game and the spectator of the README', async () => {
  const { stdout: game } = await run('node', [example('game'), node.url]);
  const [, id] = /^(game:\S+) holds$/m.exec(game) ?? [];
  assert.ok(id, game);
  const { stdout: watched } = await run('node', [example('watch'), node.url, id]);
  assert.match(watched, /^1 .*\n2 /);
  assert.match(watched, /\n\[ \d(, \d){5} \]\n/);
});

test('docs/first-game.py', async () => {
  const { stdout } = await run('python3', ['-B', `${ROOT}docs/first-game.py`, node.url]);
  assert.match(stdout, /wins/);
});
