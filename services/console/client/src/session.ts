import { RequestError, accepted } from './errors.js';
import type { SessionFieldsFragment } from './generated.js';
import { sleep } from './retry.js';
import type { TokenStorage, Tokens } from './storage.js';

/** Exchanges a refresh token; sent once. */
export type Exchange = (refreshToken: string) => Promise<SessionFieldsFragment>;

/** The refresh token of a lost answer may be shown again for ten seconds: we stay well below. */
const EXCHANGE_AGAIN_FOR = 8_000;

/** How long before its end an access token is exchanged, at most. */
const MARGIN = 30_000;

/**
 * The tokens of the signed-in player. An access token is exchanged before it ends. Refresh tokens
 * are valid once, so there is one exchange at a time, and all who wait share it.
 */
export class Session {
  #tokens: Tokens | null | undefined;
  #exchanging: Promise<string> | undefined;

  constructor(
    private readonly storage: TokenStorage,
    private readonly exchange: Exchange,
  ) {}

  /** A token that is valid for a while; null if nobody is signed in. */
  async token(): Promise<string | null> {
    const tokens = await this.#load();
    if (tokens === null) return null;
    if (Date.now() < tokens.refreshAt) return tokens.accessToken;
    return this.renew(tokens.accessToken);
  }

  /** Another token than this one, which the server does not accept or which is about to end. */
  async renew(stale: string): Promise<string> {
    const tokens = await this.#load();
    if (tokens === null) throw signedOut('nobody is signed in');
    if (tokens.accessToken !== stale) return tokens.accessToken;
    this.#exchanging ??= this.#exchange(tokens).finally(() => {
      this.#exchanging = undefined;
    });
    return this.#exchanging;
  }

  /** Begins with the tokens of a sign-in. */
  async begin(payload: SessionFieldsFragment): Promise<void> {
    await this.#save(tokensOf(payload));
  }

  /** Forgets the tokens. */
  async end(): Promise<void> {
    await this.#save(null);
  }

  async #load(): Promise<Tokens | null> {
    this.#tokens ??= await this.storage.load();
    return this.#tokens;
  }

  async #save(tokens: Tokens | null): Promise<void> {
    this.#tokens = tokens;
    await this.storage.save(tokens);
  }

  async #exchange(used: Tokens): Promise<string> {
    // Another tab with the same storage may have done it.
    const stored = await this.storage.load();
    if (stored !== null && stored.accessToken !== used.accessToken) {
      this.#tokens = stored;
      return stored.accessToken;
    }
    let next: Tokens;
    try {
      next = tokensOf(accepted(await exchangeAgain(this.exchange, used.refreshToken)));
    } catch (error) {
      if (error instanceof RequestError) throw error;
      if (this.#tokens === used) await this.#save(null);
      throw signedOut(error instanceof Error ? error.message : String(error));
    }
    // Somebody may have signed in or out meanwhile: that counts.
    if (this.#tokens === used) await this.#save(next);
    return this.#tokens?.accessToken ?? next.accessToken;
  }
}

/** Sends the exchange again if its answer was lost, as long as the server allows that. */
async function exchangeAgain(exchange: Exchange, refreshToken: string): Promise<SessionFieldsFragment> {
  const until = Date.now() + EXCHANGE_AGAIN_FOR;
  for (let pause = 200; ; pause *= 2) {
    try {
      return await exchange(refreshToken);
    } catch (error) {
      const lost = error instanceof RequestError && error.code !== 'UNAUTHENTICATED';
      if (!lost || Date.now() + pause > until) throw error;
      await sleep(pause);
    }
  }
}

function tokensOf(payload: SessionFieldsFragment): Tokens {
  const { accessToken, refreshToken, accessTokenExpiresAt } = payload;
  if (accessToken === null || refreshToken === null) throw signedOut('the server sent no tokens');
  const ends = Date.parse(accessTokenExpiresAt ?? '') - Date.now();
  const lifetime = lifetimeOf(accessToken) ?? ends;
  return { accessToken, refreshToken, refreshAt: Date.now() + lifetime - Math.min(MARGIN, lifetime / 4) };
}

/** How long a token lives from now on, whatever this machine's clock says; it is a JWT. */
function lifetimeOf(token: string): number | undefined {
  try {
    const body = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const { iat, exp }: { iat?: unknown; exp?: unknown } = JSON.parse(atob(body));
    return typeof iat === 'number' && typeof exp === 'number' ? (exp - iat) * 1_000 : undefined;
  } catch {
    return undefined;
  }
}

function signedOut(message: string): RequestError {
  return new RequestError('UNAUTHENTICATED', [{ message }]);
}
