import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';

/** The server program to test against. */
export const CROUPIER = process.env['CROUPIER'];

const NO_LIMITS = ['--actor-rate', '--address-rate', '--sign-in-rate', '--guest-rate'].flatMap((flag) => [flag, '0']);

/** A server with a database of its own, which can be restarted on the same port. */
export class ServerNode {
  url = '';
  #process: ChildProcess | undefined;
  #log = '';

  private constructor(
    private readonly program: string,
    private readonly folder: string,
  ) {}

  static async start(program: string): Promise<ServerNode> {
    const folder = await mkdtemp(`${tmpdir()}/croupier-client-`);
    // PostgreSQL may run as another user.
    await chmod(folder, 0o755);
    const node = new ServerNode(program, folder);
    await node.#start('127.0.0.1:0');
    return node;
  }

  /** Stops the node with this signal, and starts it again when it is gone. */
  async restart(signal: 'SIGTERM' | 'SIGKILL', whenDown: () => void): Promise<void> {
    await this.#end(signal);
    whenDown();
    await this.#start(new URL(this.url).host);
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Warnings and errors of the node. */
  get log(): string {
    return this.#log;
  }

  async #start(listen: string): Promise<void> {
    const options = ['serve', '--listen', listen, '--data', `${this.folder}/data`, '--log', 'error', ...NO_LIMITS];
    const node = spawn(this.program, options, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#process = node;
    node.stderr.on('data', (chunk: Buffer) => (this.#log += String(chunk)));
    let said = '';
    this.url = await new Promise<string>((resolve, reject) => {
      node.stdout.on('data', (chunk: Buffer) => {
        said += String(chunk);
        const url = /GraphQL\s+(http:\S+)/.exec(said)?.[1];
        if (url !== undefined) resolve(url);
      });
      node.on('error', reject);
      node.on('exit', () => reject(new Error(`the node does not start: ${said}${this.#log}`)));
    });
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const node = this.#process;
    if (node === undefined || node.exitCode !== null || node.signalCode !== null) return;
    const gone = once(node, 'exit');
    node.kill(signal);
    await gone;
  }
}
