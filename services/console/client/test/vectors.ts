import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const ROOT = fileURLToPath(new URL('../../../../../../', import.meta.url));

const VECTORS = `${ROOT}tests/vectors/`;

/** The names of the vectors that end so. */
export function vectorNames(ending: string, folder = ''): string[] {
  return readdirSync(VECTORS + folder).filter((name) => name.endsWith(ending)).sort();
}

export function vectorBytes(name: string): Uint8Array {
  return readFileSync(VECTORS + name);
}

export function vectorText(name: string): string {
  return readFileSync(VECTORS + name, 'utf8');
}
