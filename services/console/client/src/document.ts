/**
 * A GraphQL document that knows the types of its result and its variables.
 *
 * Documents of other generators fit if they turn into text, such as those of the client preset of
 * GraphQL Code Generator with `documentMode: 'string'`.
 */
export interface TypedDocument<Result, Variables> {
  toString(): string;
  /** Never there at run time: it carries the types. */
  readonly __apiType?: (variables: Variables) => Result;
}

/** Makes a document of an operation and the fragments it needs. */
export function document<Result, Variables>(...parts: string[]): TypedDocument<Result, Variables> {
  return { toString: () => parts.join('\n') };
}

export type OperationKind = 'query' | 'mutation' | 'subscription';

/** What the text of a document says about how it may be sent. */
export interface Operation {
  readonly text: string;
  readonly kind: OperationKind;
  /** The variables and the names of their types, without `!` and brackets. */
  readonly variables: ReadonlyMap<string, string>;
}

const OPERATION = /(?:^|[}\n])\s*(query|mutation|subscription)\b\s*\w*\s*(?:\(([^)]*)\))?/;
const VARIABLE = /\$(\w+)\s*:\s*[[\s]*(\w+)/g;

/** Reads the kind of the first operation and its variables. A bare `{ … }` is a query. */
export function readOperation(document: TypedDocument<unknown, never>): Operation {
  const text = document.toString();
  if (!text.includes('{')) {
    throw new TypeError('a document must be text, such as a TypedDocument; print a DocumentNode first');
  }
  const found = OPERATION.exec(text.replace(/#.*/g, ''));
  const kind = (found?.[1] ?? 'query') as OperationKind;
  const variables = new Map<string, string>();
  for (const [, name, type] of (found?.[2] ?? '').matchAll(VARIABLE)) {
    if (name !== undefined && type !== undefined) variables.set(name, type);
  }
  return { text, kind, variables };
}
