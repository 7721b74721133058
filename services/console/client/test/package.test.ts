import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { VERSION } from '@croupier/client';

const FOLDER = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): string => readFileSync(FOLDER + path, 'utf8');

interface Manifest {
  readonly version: string;
  readonly dependencies: Record<string, string>;
}

const manifest: Manifest = JSON.parse(read('package.json'));

test('the examples of the README are those that are compiled and run', () => {
  const blocks = [...read('README.md').matchAll(/<!-- (examples\/\w+\.ts) -->\n```ts\n([^]*?)```/g)];
  assert.equal(blocks.length, 2);
  for (const [, path, code] of blocks) assert.equal(code, read(path ?? ''));
});

test('the version is that of the package', () => assert.equal(VERSION, manifest.version));

test('nothing but the transport and the verifier is installed with the package', () => {
  const names = ['@noble/ciphers', '@noble/curves', '@noble/hashes', 'graphql-ws'];
  assert.deepEqual(Object.keys(manifest.dependencies).sort(), names);
});

test('the package has what is published, and nothing else', () => {
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: FOLDER, encoding: 'utf8' });
  const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(packed);
  const sources = readdirSync(`${FOLDER}src`, { recursive: true, encoding: 'utf8' });
  const modules = sources.filter((path) => path.endsWith('.ts')).map((path) => path.replace(/\.ts$/, ''));
  const expected = ['LICENSE', 'README.md', 'package.json', ...modules.flatMap((path) => [`dist/${path}.d.ts`, `dist/${path}.js`])];
  assert.deepEqual(files.map(({ path }) => path).sort(), expected.sort());
});

test('no type is given up', () => {
  const sources = readdirSync(`${FOLDER}src`, { recursive: true, encoding: 'utf8' });
  for (const path of sources.filter((name) => name.endsWith('.ts'))) {
    const code = read(`src/${path}`).replace(/\/\*[^]*?\*\/|\/\/.*/g, '');
    assert.doesNotMatch(code, /(?::|<|\bas)\s*any\b|@ts-/, path);
  }
});
