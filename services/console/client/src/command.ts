import type { Operation } from './document.js';
import { COMMAND_INPUTS } from './generated.js';

/**
 * Variables in which every command has an idempotency key (`input.command.id`), so that sending
 * them again is safe. A key that is there stays.
 */
export function withCommandIds(operation: Operation, variables: unknown): unknown {
  if (operation.kind !== 'mutation' || !isObject(variables)) return variables;
  const keyed: Record<string, unknown> = { ...variables };
  for (const name of commandVariables(operation)) {
    const input = keyed[name];
    if (!isObject(input)) continue;
    const command = isObject(input['command']) ? input['command'] : {};
    keyed[name] = { ...input, command: { ...command, id: command['id'] ?? randomUuid() } };
  }
  return keyed;
}

/**
 * Whether the operation may be sent again though it may have been executed: a query, or a mutation
 * all of whose inputs are commands. Put one command in a document.
 */
export function isRepeatable(operation: Operation): boolean {
  if (operation.kind !== 'mutation') return true;
  const inputs = [...operation.variables.values()].filter((type) => type.endsWith('Input'));
  return inputs.length > 0 && inputs.every((type) => COMMAND_INPUTS.has(type));
}

function commandVariables(operation: Operation): string[] {
  return [...operation.variables].filter(([, type]) => COMMAND_INPUTS.has(type)).map(([name]) => name);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** A random UUID. `crypto.randomUUID` does not exist on pages that come by plain HTTP. */
function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
