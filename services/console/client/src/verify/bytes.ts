import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Json } from './json.js';
import { asText, shown } from './json.js';
import { Unreadable } from './report.js';

export { bytesToHex, concatBytes, sha256, utf8ToBytes };

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** SHA-256 over a tag, a zero byte, and the parts one behind the other. */
export function taggedHash(tag: string, ...parts: Uint8Array[]): Uint8Array {
  return sha256(concatBytes(utf8ToBytes(tag), new Uint8Array(1), ...parts));
}

/** Lower-case hexadecimal digits of exactly so many bytes. */
export function hexBytes(value: Json, size: number): Uint8Array {
  const text = typeof value === 'string' ? value : '';
  if (text.length !== 2 * size || !/^[0-9a-f]*$/.test(text)) {
    throw new Unreadable(`expected ${2 * size} lower-case hexadecimal digits, found ${shown(value)}`);
  }
  return hexToBytes(text);
}

/** A UUID in lower case. */
export function asUuid(value: Json): string {
  const text = asText(value);
  if (!UUID.test(text)) throw new Unreadable(`expected a UUID in lower case, found ${shown(value)}`);
  return text;
}

/** The 16 bytes of a UUID in network order. */
export function uuidBytes(uuid: string): Uint8Array {
  return hexToBytes(asUuid(uuid).replaceAll('-', ''));
}

/** A whole number in big-endian two's complement. */
export function bigEndian(value: bigint, size: 1 | 2 | 8): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value);
  return bytes.subarray(8 - size);
}

export function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
