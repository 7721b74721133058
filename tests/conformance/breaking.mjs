// Compares the schema with the last released one: a breaking change fails unless the changelog
// lists it under "### Breaking".
//   node breaking.mjs RELEASED CURRENT CHANGELOG
import { readFileSync, existsSync } from 'node:fs';
import { buildSchema, findBreakingChanges } from 'graphql';

/** The breaking changes that the unreleased part of a changelog does not list. */
function unlisted(released, current, changelog) {
  const unreleased = changelog.split(/^## /m).find((part) => part.startsWith('Unreleased')) ?? '';
  const breaking = unreleased.split(/^### /m).find((part) => part.startsWith('Breaking')) ?? '';
  const changes = findBreakingChanges(buildSchema(released), buildSchema(current));
  return changes.filter(({ description }) => {
    const name = description.match(/\b[A-Z_]\w*(\.\w+)*/)?.[0] ?? description;
    return !breaking.includes(`\`${name}\``);
  });
}

/** The check itself is checked: it must see a removed field, and be satisfied by the changelog. */
function selfTest() {
  const released = 'type Query { game: Int viewer: Int }';
  const current = 'type Query { game: Int }';
  const log = '## Unreleased\n\n### Breaking\n\n- `Query.viewer` is gone.\n';
  if (unlisted(released, current, '## Unreleased\n').length !== 1) throw new Error('a removed field was not seen');
  if (unlisted(released, current, log).length !== 0) throw new Error('a listed change was reported');
  if (unlisted(current, released, '').length !== 0) throw new Error('an added field was reported');
}

const [released, current, changelog] = process.argv.slice(2);
selfTest();
if (!existsSync(released)) {
  console.log('schema: nothing is released yet, so every change is allowed');
} else {
  const read = (path) => readFileSync(path, 'utf8');
  const found = unlisted(read(released), read(current), read(changelog));
  for (const { type, description } of found) console.error(`${type}: ${description}`);
  if (found.length > 0) {
    console.error('Breaking changes of the released schema: list each under "### Breaking" in CHANGELOG.md.');
    process.exit(1);
  }
  console.log('schema: no breaking change since the last release that the changelog does not list');
}
