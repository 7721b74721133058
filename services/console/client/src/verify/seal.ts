import { ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import type { Seal } from './bundle.js';
import { bigEndian, bytesToHex, concatBytes, isEqual, sha256, taggedHash, uuidBytes } from './bytes.js';
import { Difference } from './report.js';

const { Point } = ed25519;
const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** The signed root has the last event of the game in it, where the seal says. */
export function checkSeal(game: string, lastHash: Uint8Array, seal: Seal, key: string | undefined): void {
  const { firstPosition, lastPosition, position } = seal;
  const shard = BigInt((sha256(uuidBytes(game))[0] ?? 0) & 63);
  if (seal.shard !== shard) throw wrong('the seal is of another shard', String(shard), String(seal.shard));
  if (seal.number < 1n) throw wrong('seals are counted from 1', '1 or more', String(seal.number));
  if (!(1n <= firstPosition && firstPosition <= position && position <= lastPosition)) {
    throw wrong('the seal does not cover the last event', `${firstPosition} to ${lastPosition}`, String(position));
  }
  const root = pathRoot(lastHash, position - firstPosition, lastPosition - firstPosition + 1n, seal.path);
  if (!isEqual(root, seal.root)) {
    throw wrong('the path does not lead to the root of the seal', bytesToHex(seal.root), bytesToHex(root));
  }
  checkSignature(seal.key, sealHash(seal), seal.signature);
  if (key !== undefined && key.toLowerCase() !== bytesToHex(seal.key)) {
    throw wrong('sealed by another key', key, bytesToHex(seal.key));
  }
}

/** The root of RFC 6962 that a leaf and the nodes beside its way up lead to. */
export function pathRoot(
  lastHash: Uint8Array,
  index: bigint,
  size: bigint,
  path: ReadonlyArray<Uint8Array>,
): Uint8Array {
  const isRight: boolean[] = [];
  for (let i = index, n = size; n > 1n; ) {
    // The largest power of two below the size.
    const split = 1n << BigInt((n - 1n).toString(2).length - 1);
    isRight.unshift(i >= split);
    [i, n] = i >= split ? [i - split, n - split] : [i, split];
  }
  if (path.length !== isRight.length) {
    throw wrong('the path has another length', `${isRight.length} nodes`, `${path.length} nodes`);
  }
  return path.reduce(
    (node, beside, step) => sha256(concatBytes(NODE, ...(isRight[step] ? [beside, node] : [node, beside]))),
    sha256(concatBytes(LEAF, lastHash)),
  );
}

function sealHash(seal: Seal): Uint8Array {
  const { number, firstPosition, lastPosition, sealedAt, root, previous, key } = seal;
  const numbers = [number, firstPosition, lastPosition, sealedAt].map((value) => bigEndian(value, 8));
  return taggedHash('croupier/seal/1', bigEndian(seal.shard, 1), ...numbers, root, previous, key);
}

/**
 * Ed25519, strictly: [s]B = R + [k]A without the cofactor, nothing that has two encodings, nothing of
 * small order. The library's own check multiplies by the cofactor.
 */
export function checkSignature(key: Uint8Array, message: Uint8Array, signature: Uint8Array): void {
  const encodedR = signature.subarray(0, 32);
  const publicKey = point(key, 'the public key');
  const r = point(encodedR, 'the R of the signature');
  const s = littleEndian(signature.subarray(32));
  const order = Point.Fn.ORDER;
  if (s >= order) throw wrong('the s of the signature is not below the order of the group');
  const k = littleEndian(sha512(concatBytes(encodedR, key, message))) % order;
  if (!Point.BASE.multiplyUnsafe(s).equals(r.add(publicKey.multiplyUnsafe(k)))) {
    const expected = `a signature by ${bytesToHex(key)} of ${bytesToHex(message)}`;
    throw wrong('the seal is not signed by its key', expected, bytesToHex(signature));
  }
}

function point(encoded: Uint8Array, name: string): InstanceType<typeof Point> {
  let found: InstanceType<typeof Point>;
  try {
    found = Point.fromBytes(encoded, false);
  } catch {
    throw wrong(`${name} is not a point of the curve in its one encoding`);
  }
  if (found.isSmallOrder()) throw wrong(`${name} is of small order: it would fit anything`);
  return found;
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytesToHex(Uint8Array.from(bytes).reverse())}`);
}

function wrong(message: string, expected?: string, found?: string): Difference {
  return new Difference('seal', message, expected, found);
}
