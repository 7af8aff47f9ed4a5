/** nftables through its own program, nft(8), in JSON (libnftables-json(5)). */
import { writeSync } from 'node:fs';
import { runFirewallProgram } from './firewall-program.ts';
import { NftablesError } from './nftables-error.ts';
import { close, createMemoryFile } from './syscalls.ts';

/** The address families of tables. */
export type NftFamily = 'ip' | 'ip6' | 'inet' | 'arp' | 'bridge' | 'netdev';

/** NFPROTO_* of each family. */
export const familyNumbers: Readonly<Record<NftFamily, number>> = {
  inet: 1,
  ip: 2,
  arp: 3,
  netdev: 5,
  bridge: 7,
  ip6: 10,
};

/** An object of the rule set, by its kind: `{ table: { family: 'inet', name: 'bgp-lb' } }`. */
export type NftObject = { readonly [kind: string]: unknown };

/** A command and its object: `{ add: { table: { family: 'inet', name: 'bgp-lb' } } }`. */
export type NftCommand = {
  readonly [verb in 'add' | 'create' | 'insert' | 'replace' | 'delete' | 'flush' | 'rename']?: NftObject;
};

/** What some tables have in them. */
export interface NftTables {
  readonly chains: readonly NftObject[];
  /** In their order within each chain. */
  readonly rules: readonly NftObject[];
  /** Tables that are there and cannot be read, as one of more than 16 MiB, each with why. */
  readonly unread: readonly { readonly table: string; readonly problem: string }[];
}

const timeLimit = 10_000;

/** Runs nft(8). Calls on one instance run one after another, in the order they were made. */
export class Nftables {
  readonly #program: string;
  readonly #timeLimit: number;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * @param program the name (found by PATH, /usr/sbin and /sbin) or path of nft
   * @param options.timeLimit ms after which nft is killed; default 10000
   */
  constructor(program = 'nft', options: { readonly timeLimit?: number } = {}) {
    this.#program = program;
    this.#timeLimit = options.timeLimit ?? timeLimit;
  }

  /** Applies all commands in one transaction: all of them, or none. @throws NftablesError */
  async apply(commands: readonly NftCommand[]): Promise<void> {
    try {
      await this.#run(['-j', '-f', '-'], JSON.stringify({ nftables: commands }));
    } catch (error) {
      // nft says where in a file the fault is, but not where in JSON.
      if (!(error instanceof NftablesError) || error.reason !== 'refused') throw error;
      throw new NftablesError('refused', error.text, { cause: error, request: describe(commands) });
    }
  }

  /**
   * The objects of a table, the table itself included; undefined when there is none.
   * @param options.terse without the elements of sets, of which packets may have made thousands
   * @throws NftablesError
   */
  async table(
    family: NftFamily,
    name: string,
    options: { readonly terse?: boolean } = {},
  ): Promise<NftObject[] | undefined> {
    const flags = options.terse === true ? ['-j', '-t'] : ['-j'];
    try {
      return objectsIn(await this.#run([...flags, 'list', 'table', family, name]));
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  /** The chains of all tables, whosever they are. @throws NftablesError */
  async chains(): Promise<NftObject[]> {
    const objects = objectsIn(await this.#run(['-j', 'list', 'chains']));
    return objects.map((entry) => entry['chain']).filter(isObject);
  }

  /**
   * The tables that have a chain of a kind, whosever they are, with all their chains and rules. No other is read: kube-proxy makes
   * some ten rules for each Service, in tables that translate addresses alone.
   * @param isWanted whether a chain, as libnftables-json(5) has it, is of that kind
   * @throws NftablesError
   */
  async tablesWith(isWanted: (chain: NftObject) => boolean): Promise<NftTables> {
    const names = new Map<string, { readonly family: string; readonly table: string }>();
    for (const chain of (await this.chains()).filter(isWanted)) {
      const { family, table } = chain;
      if (typeof family === 'string' && typeof table === 'string')
        names.set(`${family} ${table}`, { family, table });
    }
    const objects: NftObject[] = [];
    const unread: { table: string; problem: string }[] = [];
    for (const [name, { family, table }] of names) {
      try {
        // One that is gone meanwhile has no rules.
        objects.push(...((await this.table(family as NftFamily, table, { terse: true })) ?? []));
      } catch (error) {
        if (!(error instanceof NftablesError)) throw error;
        unread.push({ table: name, problem: error.text });
      }
    }
    return {
      chains: objects.map((entry) => entry['chain']).filter(isObject),
      rules: objects.map((entry) => entry['rule']).filter(isObject),
      unread,
    };
  }

  /** Removes a table and all that is in it; nothing happens when there is none. @throws NftablesError */
  async deleteTable(family: NftFamily, name: string): Promise<void> {
    const table = { family, name };
    // Added first, so that there is one to delete.
    await this.apply([{ add: { table } }, { delete: { table } }]);
  }

  #run(argv: readonly string[], input?: string): Promise<string> {
    const run = this.#last.then(() => runProgram(this.#program, argv, input, this.#timeLimit));
    this.#last = run.catch(() => {});
    return run;
  }
}

const describedCommands = 8;

/** `add table inet bgp-lb; delete chain inet bgp-lb forward`. */
function describe(commands: readonly NftCommand[]): string {
  const words = commands
    .slice(0, describedCommands)
    .flatMap((command) =>
      Object.entries(command).flatMap(([verb, object]) =>
        Object.entries(object).map(([kind, fields]) => [verb, kind, ...nameOf(fields)].join(' ')),
      ),
    );
  const left = commands.length - describedCommands;
  return words.join('; ') + (left > 0 ? `; and ${left} more` : '');
}

function nameOf(fields: unknown): string[] {
  if (!isObject(fields)) return [];
  const { family, table, chain, name } = fields;
  return [family, table, chain, name].filter((word) => typeof word === 'string');
}

function isAbsent(error: unknown): boolean {
  return (
    error instanceof NftablesError &&
    error.reason === 'refused' &&
    /No such file or directory/.test(error.text)
  );
}

/** The objects of nft's output, without the line about its version. @throws NftablesError */
function objectsIn(output: string): NftObject[] {
  const parsed = parseJson(output);
  const list = isObject(parsed) ? parsed['nftables'] : undefined;
  if (!Array.isArray(list))
    throw new NftablesError('unreadable', 'nft printed something that is not a rule set');
  return list.filter(isObject).filter((entry) => !('metainfo' in entry));
}

function parseJson(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch (cause) {
    throw new NftablesError('unreadable', 'nft printed something that is not JSON', { cause });
  }
}

function isObject(value: unknown): value is NftObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function runProgram(
  program: string,
  argv: readonly string[],
  input: string | undefined,
  limit: number,
): Promise<string> {
  if (input === undefined) return runFirewallProgram(program, argv, undefined, limit);
  // nft opens /dev/stdin by its path, which fails for a socket: a file in memory can be opened, needs no writable file
  // system, and has no limit as an argument has.
  const file = createMemoryFile('nft-commands');
  try {
    // Newer versions of nft read the descriptor itself: writing at a position leaves its offset at 0.
    writeSync(file, input, 0);
    return await runFirewallProgram(program, argv, file, limit);
  } finally {
    close(file);
  }
}
