/** One thing that was checked. */
export interface Check {
  readonly name: CheckName;
  readonly ok: boolean;
  readonly expected?: string;
  readonly found?: string;
  /** What was checked, or what is wrong, in a sentence. */
  readonly detail?: string;
  /** What the check does not prove, though it holds. */
  readonly warning?: string;
  /** It could not be judged: the file is cut off, malformed, or newer than this verifier. */
  readonly unreadable?: true;
}

export type CheckName =
  | 'form'
  | 'envelopes'
  | 'chain'
  | 'seal'
  | 'end'
  | 'ruleset'
  | 'commitment'
  | 'seeds'
  | 'rolls'
  | 'draws';

/** `holds`: everything is right. Otherwise what the first check that fails says. */
export type Verdict = 'holds' | 'differs' | 'unreadable';

export function verdictOf(checks: ReadonlyArray<Check>): Verdict {
  const failed = checks.find((check) => !check.ok);
  if (failed === undefined) return checks.length > 0 ? 'holds' : 'unreadable';
  return failed.unreadable ? 'unreadable' : 'differs';
}

/** Facts known from other sources, to compare with. All are optional. */
export interface Known {
  /** The game this should be: a UUID, or a global id such as `game:…`. */
  readonly game?: string;
  /** The commitment that was shown before the seeds were given. */
  readonly commitment?: string;
  /** The seeds that were given, by seat. */
  readonly seeds?: ReadonlyMap<number, string>;
  /** The public key that must have sealed. */
  readonly key?: string;
}

/** The UUID of a game, also of its global id. */
export function gameUuid(id: string): string {
  return id.replace(/^game:/, '').toLowerCase();
}

/** Something is not as it should be. */
export class Difference extends Error {
  constructor(
    readonly check: CheckName,
    message: string,
    readonly expected?: string,
    readonly found?: string,
  ) {
    super(message);
  }
}

/** Something cannot be judged. */
export class Unreadable extends Error {}

/** Runs a check and adds it to the list. Gives what it gives; nothing if it fails. */
export function run<Result>(
  checks: Check[],
  name: CheckName,
  check: () => Result,
  about: (result: Result) => Partial<Pick<Check, 'detail' | 'warning'>> = () => ({}),
): Result | undefined {
  try {
    const result = check();
    checks.push({ name, ok: true, ...about(result) });
    return result;
  } catch (error) {
    checks.push(failed(name, error));
    return undefined;
  }
}

/** The check that an error makes. */
export function failed(name: CheckName, error: unknown): Check {
  if (error instanceof Difference) {
    const { expected, found } = error;
    const detail = error.message;
    return {
      name: error.check,
      ok: false,
      detail,
      ...(expected !== undefined && { expected }),
      ...(found !== undefined && { found }),
    };
  }
  if (error instanceof Unreadable) return { name, ok: false, detail: error.message, unreadable: true };
  throw error;
}
