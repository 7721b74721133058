import type { UserErrorFieldsFragment } from './generated.js';

/**
 * What went wrong with a request. The first ones are codes of the server (`extensions.code`), the
 * last two are ours: no answer came, or one that is not GraphQL.
 */
export type RequestErrorCode =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'BAD_USER_INPUT'
  | 'GRAPHQL_PARSE_FAILED'
  | 'GRAPHQL_VALIDATION_FAILED'
  | 'TOO_COMPLEX'
  | 'RATE_LIMITED'
  | 'BUSY'
  | 'UNAVAILABLE'
  | 'TIMEOUT'
  | 'INTERNAL_SERVER_ERROR'
  | 'NETWORK'
  | 'BAD_RESPONSE';

/** One GraphQL error as the server sends it. */
export interface ErrorBody {
  readonly message: string;
  readonly path?: ReadonlyArray<string | number>;
  readonly extensions?: {
    readonly code?: string;
    readonly requestId?: string;
    readonly refusal?: string;
  };
}

/** Where an answer came from: what is in its status and its headers. */
export interface ErrorOrigin {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly data?: unknown;
  readonly cause?: unknown;
}

/** A request that could not be executed, or only in part. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  /** The code of the first error. A newer server may send codes that are not listed. */
  readonly code: RequestErrorCode;
  /** The field at which the first error happened. */
  readonly path: ReadonlyArray<string | number>;
  /** Report it to the operator of the server. */
  readonly requestId: string | undefined;
  /** Seconds to wait, if the server said so. */
  readonly retryAfter: number | undefined;
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined;
  /** The code of a refusal that came as an error (`extensions.refusal`). */
  readonly refusal: string | undefined;
  /** All errors of the answer. */
  readonly errors: ReadonlyArray<ErrorBody>;
  /** What was executed nonetheless. */
  readonly data: unknown;

  constructor(code: RequestErrorCode, errors: ReadonlyArray<ErrorBody>, origin: ErrorOrigin = {}) {
    const [first] = errors;
    super(first?.message ?? code, { cause: origin.cause });
    this.code = code;
    this.path = first?.path ?? [];
    this.requestId = first?.extensions?.requestId ?? origin.requestId;
    this.retryAfter = origin.retryAfter;
    this.status = origin.status;
    this.refusal = first?.extensions?.refusal;
    this.errors = errors;
    this.data = origin.data;
  }

  /** Makes an error of the `errors` of an answer. */
  static of(errors: ReadonlyArray<ErrorBody>, origin: ErrorOrigin = {}): RequestError {
    const code = errors[0]?.extensions?.code ?? 'BAD_RESPONSE';
    return new RequestError(code as RequestErrorCode, errors, origin);
  }
}

/** A command that the rules refused. Nothing was changed. */
export class RefusedError<Payload = unknown> extends Error {
  override readonly name = 'RefusedError';

  constructor(
    readonly userErrors: ReadonlyArray<UserErrorFieldsFragment>,
    /** The whole answer: `payload.game` is the game as it is now. */
    readonly payload: Payload,
  ) {
    super(userErrors.map((error) => error.message).join(' '));
  }

  /** The code of the first refusal. */
  get code(): UserErrorFieldsFragment['code'] | undefined {
    return this.userErrors[0]?.code;
  }
}

/** Gives the payload of a command, or throws what refused it. */
export function accepted<Payload extends { readonly userErrors: ReadonlyArray<UserErrorFieldsFragment> }>(
  payload: Payload,
): Payload {
  if (payload.userErrors.length > 0) throw new RefusedError(payload.userErrors, payload);
  return payload;
}
