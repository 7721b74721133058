import { Unreadable } from './report.js';

/** JSON without fractions. Whole numbers that do not fit a `number` are a `bigint`. */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** Reads JSON, with blanks and in any spelling. */
export function parseJson(text: string): Json {
  return new Reader(text, false).document();
}

/**
 * Reads JSON that is written in the one way that bundles have: no blanks, no key twice, no fraction,
 * nothing escaped that need not be. Any other text is not readable, so no byte can be changed unseen.
 */
export function parseStrictJson(text: string): Json {
  return new Reader(text, true).document();
}

/** Writes JSON with sorted keys and without blanks: what is hashed. */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number' || typeof value === 'bigint') return value.toString();
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const entries = Object.entries(value).sort(([a], [b]) => compareCodePoints(a, b));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonicalJson(entry)}`).join(',')}}`;
}

export function isSame(found: Json | undefined, expected: Json): boolean {
  return found !== undefined && canonicalJson(found) === canonicalJson(expected);
}

// --- Taking values apart: whatever is not there or of another type cannot be judged. ---------------

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function field(value: Json | undefined, key: string): Json {
  const found = isObject(value) ? value[key] : undefined;
  if (found === undefined) throw new Unreadable(`expected an object with ${key}, found ${shown(value)}`);
  return found;
}

export function asObject(value: Json): JsonObject {
  if (!isObject(value)) throw new Unreadable(`expected an object, found ${shown(value)}`);
  return value;
}

export function asList(value: Json): Json[] {
  if (!Array.isArray(value)) throw new Unreadable(`expected a list, found ${shown(value)}`);
  return value;
}

export function asText(value: Json): string {
  if (typeof value !== 'string') throw new Unreadable(`expected a text, found ${shown(value)}`);
  return value;
}

export function asNumber(value: Json): number {
  if (typeof value !== 'number') throw new Unreadable(`expected a whole number, found ${shown(value)}`);
  return value;
}

/** A value as part of a sentence. */
export function shown(value: Json | undefined): string {
  const text = value === undefined ? 'nothing' : canonicalJson(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

// ---------------------------------------------------------------------------------------------------

const DEEPEST = 128;
const BLANKS = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
const INTEGER = /-?(?:0|[1-9][0-9]*)/y;
const WORDS = new Map<string, Json>([
  ['null', null],
  ['true', true],
  ['false', false],
]);

class Reader {
  #at = 0;
  #depth = 0;

  constructor(
    private readonly text: string,
    private readonly strict: boolean,
  ) {}

  document(): Json {
    const value = this.#value();
    if (this.#at < this.text.length) throw this.#wrong('the end');
    return value;
  }

  #value(): Json {
    this.#blanks();
    const next = this.text[this.#at];
    const value = next === '{' ? this.#nested(() => this.#object()) : next === '[' ? this.#nested(() => this.#list()) : this.#scalar();
    this.#blanks();
    return value;
  }

  #nested<Value>(read: () => Value): Value {
    this.#depth += 1;
    if (this.#depth > DEEPEST) throw new Unreadable(`JSON deeper than ${DEEPEST} levels`);
    this.#at += 1;
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #object(): JsonObject {
    const object: JsonObject = Object.create(null);
    this.#items('}', () => {
      this.#blanks();
      const key = this.#string();
      if (key in object) throw this.#wrong(`${JSON.stringify(key)} once`);
      this.#blanks();
      if (!this.#take(':')) throw this.#wrong(':');
      object[key] = this.#value();
    });
    return object;
  }

  #list(): Json[] {
    const list: Json[] = [];
    this.#items(']', () => list.push(this.#value()));
    return list;
  }

  #items(end: string, read: () => void): void {
    this.#blanks();
    if (this.#take(end)) return;
    do read();
    while (this.#take(','));
    if (!this.#take(end)) throw this.#wrong(end);
  }

  #scalar(): Json {
    if (this.text[this.#at] === '"') return this.#string();
    for (const [word, value] of WORDS) {
      if (this.text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    return this.#integer();
  }

  #integer(): number | bigint {
    const digits = this.#match(INTEGER);
    if (digits === undefined) throw this.#wrong('a value');
    if ('.eE'.includes(this.text[this.#at] ?? ' ')) throw this.#wrong('a whole number');
    if (digits === '-0' && this.strict) throw this.#wrong('0');
    const number = Number(digits);
    if (Number.isSafeInteger(number)) return number + 0;
    const exact = digits.length <= 20 ? BigInt(digits) : undefined;
    if (exact === undefined || BigInt.asIntN(64, exact) !== exact) throw this.#wrong('a whole number of 64 bits');
    return exact;
  }

  #string(): string {
    const at = this.#at;
    const raw = this.#match(STRING);
    if (raw === undefined) throw this.#wrong('a text');
    let value: unknown;
    try {
      value = JSON.parse(raw);
    } catch {
      value = undefined;
    }
    if (typeof value !== 'string' || (this.strict && JSON.stringify(value) !== raw)) {
      this.#at = at;
      throw this.#wrong('a text in its one form');
    }
    return value;
  }

  #blanks(): void {
    if (!this.strict) this.#match(BLANKS);
  }

  #take(sign: string): boolean {
    if (this.text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #wrong(expected: string): Unreadable {
    const found = JSON.stringify(this.text.slice(this.#at, this.#at + 20));
    return new Unreadable(`this is not JSON of ours: at character ${this.#at + 1} expected ${expected}, found ${found}`);
  }
}

/** Code points, not the units of UTF-16 that `<` compares. */
function compareCodePoints(a: string, b: string): number {
  const left = Array.from(a, codePoint);
  const right = Array.from(b, codePoint);
  for (const [index, point] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (point !== other) return point - other;
  }
  return left.length - right.length;
}

function codePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}
