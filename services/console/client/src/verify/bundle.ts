import { asUuid, bigEndian, concatBytes, hexBytes, utf8ToBytes, uuidBytes } from './bytes.js';
import { asList, asText, field, isObject, parseStrictJson, shown } from './json.js';
import type { Json } from './json.js';
import { Unreadable } from './report.js';

/** A proof bundle, taken apart; the server's docs/proof.md has its form. */
export interface Bundle {
  readonly game: string;
  readonly events: ReadonlyArray<SealedEvent>;
  /** Nothing if the end of the game is not sealed yet. */
  readonly seal: Seal | undefined;
}

/** An event with its envelope. */
export interface SealedEvent {
  readonly stream: string;
  readonly version: bigint;
  readonly type: string;
  readonly schema: bigint;
  readonly recordedAt: bigint;
  readonly payload: string;
  readonly hash: Uint8Array;
  /** The bytes that the hash covers, but for the hash before. */
  readonly hashed: Uint8Array;
}

/** The signed root of a part of the log, and the way from the last event up to it. */
export interface Seal {
  readonly shard: bigint;
  readonly number: bigint;
  readonly firstPosition: bigint;
  readonly lastPosition: bigint;
  readonly sealedAt: bigint;
  readonly root: Uint8Array;
  readonly previous: Uint8Array;
  readonly key: Uint8Array;
  readonly signature: Uint8Array;
  readonly position: bigint;
  readonly path: ReadonlyArray<Uint8Array>;
}

const FORMAT = 1;
const NEWLINE = 0x0a;

/** Reads a bundle. Whatever is not in its one form is `Unreadable`. */
export function readBundle(data: Uint8Array): Bundle {
  checkBeginning(data);
  const lines = splitLines(data);
  const header = atLine(1, () => readHeader(readLine(lines[0])));
  const expected = header.events + 2n;
  if (BigInt(lines.length) !== expected) {
    const why = lines.length < expected ? 'the file is cut off' : 'there is more than a bundle in the file';
    throw new Unreadable(`${why}: expected ${expected} lines, for ${header.events} events, found ${lines.length}`);
  }
  const events = lines.slice(1, -1).map((line, index) => atLine(index + 2, () => readEvent(readLine(line))));
  return { game: header.game, events, seal: atLine(lines.length, () => readSeal(readLine(lines.at(-1)))) };
}

function checkBeginning(data: Uint8Array): void {
  if (data.length === 0) throw new Unreadable('the file is empty');
  const text = new TextDecoder('latin1').decode(data.subarray(0, 40));
  const begin = /^\{"croupier_proof":([0-9]{1,9})\b/.exec(text);
  if (begin === null) throw new Unreadable('this is not a proof bundle');
  const format = Number(begin[1]);
  if (format > FORMAT) {
    throw new Unreadable(`this is a bundle of format ${format}, only format ${FORMAT} is known here`);
  }
  if (data.at(-1) !== NEWLINE) throw new Unreadable('the file is cut off: its last line has no end');
}

function splitLines(data: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < data.length; ) {
    const end = data.indexOf(NEWLINE, start);
    lines.push(data.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

function readLine(line: Uint8Array | undefined): Json {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line);
  } catch {
    throw new Unreadable('this is not UTF-8');
  }
  return parseStrictJson(text);
}

function readHeader(line: Json): { readonly game: string; readonly events: bigint } {
  expectKeys(line, ['croupier_proof', 'game', 'events']);
  const events = wholeNumber(field(line, 'events'), 64);
  if (field(line, 'croupier_proof') !== FORMAT || events < 1n) {
    throw new Unreadable(`expected format ${FORMAT} and at least 1 event`);
  }
  return { game: asUuid(field(line, 'game')), events };
}

function readEvent(line: Json): SealedEvent {
  expectKeys(line, [
    'stream', 'version', 'type', 'schema', 'recorded_at', 'command', 'actor', 'payload', 'hash',
  ]);
  const stream = asUuid(field(line, 'stream'));
  const version = wholeNumber(field(line, 'version'), 64);
  const type = asText(field(line, 'type'));
  const schema = wholeNumber(field(line, 'schema'), 16);
  const recordedAt = wholeNumber(field(line, 'recorded_at'), 64);
  const payload = asText(field(line, 'payload'));
  const hashed = concatBytes(
    uuidBytes(stream),
    bigEndian(version, 8),
    ...sized(type),
    bigEndian(schema, 2),
    bigEndian(recordedAt, 8),
    uuidBytes(asUuid(field(line, 'command'))),
    uuidBytes(asUuid(field(line, 'actor'))),
    ...sized(payload),
  );
  return { stream, version, type, schema, recordedAt, payload, hash: hexBytes(field(line, 'hash'), 32), hashed };
}

function readSeal(line: Json): Seal | undefined {
  if (isObject(line) && line['seal'] === null && Object.keys(line).length === 1) return undefined;
  expectKeys(line, ['seal', 'position', 'path']);
  const seal = field(line, 'seal');
  expectKeys(seal, [
    'shard', 'number', 'first_position', 'last_position', 'sealed_at', 'root', 'previous', 'key', 'signature',
  ]);
  return {
    shard: wholeNumber(field(seal, 'shard'), 64),
    number: wholeNumber(field(seal, 'number'), 64),
    firstPosition: wholeNumber(field(seal, 'first_position'), 64),
    lastPosition: wholeNumber(field(seal, 'last_position'), 64),
    sealedAt: wholeNumber(field(seal, 'sealed_at'), 64),
    root: hexBytes(field(seal, 'root'), 32),
    previous: hexBytes(field(seal, 'previous'), 32),
    key: hexBytes(field(seal, 'key'), 32),
    signature: hexBytes(field(seal, 'signature'), 64),
    position: wholeNumber(field(line, 'position'), 64),
    path: asList(field(line, 'path')).map((hash) => hexBytes(hash, 32)),
  };
}

/** A text behind its length in bytes. */
function sized(text: string): [Uint8Array, Uint8Array] {
  const bytes = utf8ToBytes(text);
  return [bigEndian(BigInt(bytes.length), 8), bytes];
}

/** These keys in this order, and no others. */
function expectKeys(value: Json, keys: ReadonlyArray<string>): void {
  if (!isObject(value) || Object.keys(value).join() !== keys.join()) {
    throw new Unreadable(`expected an object with ${keys.join(', ')}, found ${shown(value)}`);
  }
}

function wholeNumber(value: Json, bits: 16 | 64): bigint {
  const exact = typeof value === 'number' || typeof value === 'bigint' ? BigInt(value) : undefined;
  if (exact === undefined || BigInt.asIntN(bits, exact) !== exact) {
    throw new Unreadable(`expected a whole number of ${bits} bits, found ${shown(value)}`);
  }
  return exact;
}

function atLine<Result>(number: number, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof Unreadable ? new Unreadable(`line ${number}: ${error.message}`) : error;
  }
}
