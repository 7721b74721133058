import type { TypedDocument } from './document.js';
import { RequestError } from './errors.js';
import { DEFAULT_RETRY, isTransient, pauseAfter, sleep } from './retry.js';
import type { Session } from './session.js';
import { errorBody } from './socket.js';
import type { Socket } from './socket.js';

/** Close codes that no other attempt would change: malformed, wrong protocol, misuse. */
const PROTOCOL_ERRORS = [4400, 4406, 4409, 4429];

/** Close codes of a token that has expired, is not valid, or whose session was ended. */
const TOKEN_REFUSED = [4401, 4403];

/**
 * A subscription that is made again whenever it breaks, with the variables of that moment, until the
 * server completes it or the signal is aborted. Throws what another attempt would not change.
 */
export async function* follow<Result, Variables>(
  socket: Socket,
  session: Session,
  document: TypedDocument<Result, Variables>,
  variables: () => Variables,
  signal?: AbortSignal,
): AsyncGenerator<Result, void> {
  let failures = 0;
  let refusals = 0;
  while (!signal?.aborted) {
    try {
      for await (const data of socket.subscribe(document.toString(), variables(), signal)) {
        failures = refusals = 0;
        yield data as Result;
      }
      return;
    } catch (thrown) {
      const error = understand(thrown);
      failures += 1;
      if (error.code === 'UNAUTHENTICATED') {
        // A fresh token that is refused as well will not get better.
        refusals += 1;
        if (socket.token === null || refusals > 1) throw error;
        await renew(session, socket.token);
      } else if (!isTransient(error)) {
        throw error;
      }
      await pause(pauseAfter(failures, DEFAULT_RETRY, error.retryAfter), signal);
    }
  }
}

/** What ended a subscription: GraphQL errors, a close event, or the failure of a socket. */
function understand(thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  if (Array.isArray(thrown)) return RequestError.of(thrown.map(errorBody));
  const code = closeCode(thrown);
  if (code !== undefined && TOKEN_REFUSED.includes(code)) {
    return new RequestError('UNAUTHENTICATED', [{ message: `the token was refused (${code})` }], { cause: thrown });
  }
  if (code !== undefined && PROTOCOL_ERRORS.includes(code)) {
    return new RequestError('BAD_RESPONSE', [{ message: `protocol error ${code}` }], { cause: thrown });
  }
  const message = `the connection is lost${code === undefined ? '' : ` (${code})`}`;
  return new RequestError('NETWORK', [{ message }], { cause: thrown });
}

function closeCode(thrown: unknown): number | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'number' ? thrown.code : undefined;
}

async function renew(session: Session, token: string): Promise<void> {
  try {
    await session.renew(token);
  } catch (error) {
    if (!isTransient(error)) throw error;
  }
}

/** Unlike a request, a subscription that was given up ends without an error. */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(milliseconds, signal);
  } catch {
    // The loop looks at the signal.
  }
}
