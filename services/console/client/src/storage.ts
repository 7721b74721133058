/** The tokens of a session. Store them like a password. */
export interface Tokens {
  readonly accessToken: string;
  /** When to exchange the access token, in milliseconds since 1970 of this machine's clock. */
  readonly refreshAt: number;
  /** Valid once. */
  readonly refreshToken: string;
}

/** Where the tokens are kept between requests, and between runs if you like. */
export interface TokenStorage {
  load(): Tokens | null | Promise<Tokens | null>;
  save(tokens: Tokens | null): void | Promise<void>;
}

/** Keeps the tokens as long as the program runs. */
export function memoryStorage(tokens: Tokens | null = null): TokenStorage {
  return {
    load: () => tokens,
    save: (next) => {
      tokens = next;
    },
  };
}

/** The part of `localStorage` and `sessionStorage` that is needed. */
export interface KeyValueStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** Keeps the tokens in `localStorage`, `sessionStorage` or something like them. */
export function webStorage(storage: KeyValueStorage, key = 'croupier-session'): TokenStorage {
  return {
    load: () => readTokens(storage.getItem(key)),
    save: (tokens) => {
      if (tokens === null) storage.removeItem(key);
      else storage.setItem(key, JSON.stringify(tokens));
    },
  };
}

function readTokens(text: string | null): Tokens | null {
  if (text === null) return null;
  try {
    const found: Partial<Tokens> | null = JSON.parse(text);
    if (typeof found?.accessToken !== 'string' || typeof found.refreshToken !== 'string') return null;
    const { accessToken, refreshToken, refreshAt } = found;
    return { accessToken, refreshToken, refreshAt: Number(refreshAt) || 0 };
  } catch {
    return null;
  }
}
