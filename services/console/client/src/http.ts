import { RequestError } from './errors.js';
import type { ErrorBody, ErrorOrigin } from './errors.js';

/** Where requests go and how. */
export interface HttpOptions {
  readonly url: string;
  readonly fetch: typeof fetch;
  /** The value of the header `croupier-client`: `NAME/VERSION`. */
  readonly clientName: string;
  /** How long to wait for an answer, in milliseconds. */
  readonly timeout: number;
}

export interface HttpRequest {
  readonly text: string;
  readonly variables: unknown;
  readonly token: string | null;
  readonly signal: AbortSignal | undefined;
}

/** Sends one request once and gives its `data`. Whatever goes wrong is a `RequestError`. */
export async function post(options: HttpOptions, request: HttpRequest): Promise<unknown> {
  const response = await send(options, request);
  const origin = originOf(response);
  const body = await readBody(response, origin, request.signal);
  if (body.errors !== undefined && body.errors.length > 0) {
    throw RequestError.of(body.errors, { ...origin, data: body.data });
  }
  if (body.data === undefined || body.data === null) throw badResponse(origin);
  return body.data;
}

interface Body {
  readonly data?: unknown;
  readonly errors?: ReadonlyArray<ErrorBody>;
}

async function send(options: HttpOptions, request: HttpRequest): Promise<Response> {
  const timeout = AbortSignal.timeout(options.timeout);
  const headers: Record<string, string> = {
    accept: 'application/graphql-response+json, application/json',
    'content-type': 'application/json',
    'croupier-client': options.clientName,
  };
  if (request.token !== null) headers['authorization'] = `Bearer ${request.token}`;
  try {
    return await options.fetch(options.url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query: request.text, variables: request.variables }),
      signal: request.signal ? AbortSignal.any([request.signal, timeout]) : timeout,
    });
  } catch (cause) {
    throw networkError(cause, request.signal);
  }
}

async function readBody(
  response: Response,
  origin: ErrorOrigin,
  signal: AbortSignal | undefined,
): Promise<Body> {
  let text: string;
  try {
    text = await response.text();
  } catch (cause) {
    throw networkError(cause, signal);
  }
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null) return body;
  } catch {
    // A proxy answers in HTML.
  }
  throw badResponse(origin);
}

function originOf(response: Response): ErrorOrigin {
  return {
    status: response.status,
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfter: readRetryAfter(response.headers.get('retry-after')),
  };
}

/** The header has seconds or a date. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

function networkError(cause: unknown, signal: AbortSignal | undefined): unknown {
  // Whoever gave up gets back the reason they gave.
  if (signal?.aborted) return signal.reason;
  const message = cause instanceof Error ? cause.message : String(cause);
  return new RequestError('NETWORK', [{ message: `no answer: ${message}` }], { cause });
}

function badResponse(origin: ErrorOrigin): RequestError {
  const message = `the answer (status ${origin.status ?? 'unknown'}) is not a GraphQL response`;
  return new RequestError('BAD_RESPONSE', [{ message }], origin);
}
