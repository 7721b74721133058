import { RequestError } from './errors.js';

/** How often and how fast something is tried again. */
export interface RetryPolicy {
  /** How often a request is sent at most, the first time included. */
  readonly attempts: number;
  /** The longest first pause, in milliseconds; it doubles each time. */
  readonly firstPause: number;
  /** The longest pause, in milliseconds. */
  readonly longestPause: number;
}

export const DEFAULT_RETRY: RetryPolicy = { attempts: 10, firstPause: 100, longestPause: 5_000 };

/** Whether the same request may have success in a moment. */
export function isTransient(error: unknown): error is RequestError {
  if (!(error instanceof RequestError)) return false;
  if (error.status !== undefined && error.status >= 500) return true;
  return ['NETWORK', 'BUSY', 'UNAVAILABLE', 'TIMEOUT', 'RATE_LIMITED'].includes(error.code);
}

/** Whether the server refused the request as a whole, before it executed anything. */
export function isBeforeExecution(error: RequestError): boolean {
  return error.status === 429 || error.status === 401;
}

/** Runs `attempt` until it has success, fails for good, or was tried often enough. */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  mayRetry: (error: RequestError) => boolean,
  policy: RetryPolicy,
  signal?: AbortSignal,
): Promise<Result> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isTransient(error) || !mayRetry(error) || failures >= policy.attempts) throw error;
      await sleep(pauseAfter(failures, policy, error.retryAfter), signal);
    }
  }
}

/**
 * The pause after the n-th failure in a row, in milliseconds: doubling, and at random between half
 * of it and all of it, so that clients that failed together do not come back together. Never
 * shorter than what the server asked for.
 */
export function pauseAfter(failures: number, policy: RetryPolicy, retryAfter = 0): number {
  const longest = Math.min(policy.firstPause * 2 ** (failures - 1), policy.longestPause);
  return Math.max(longest * (0.5 + Math.random() / 2), retryAfter * 1_000);
}

/** Waits; rejects at once with the signal's reason if it is aborted. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
