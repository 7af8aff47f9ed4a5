import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultsOf, root, textOf } from './pages.ts';

/** Commands of a program as its help has them, with the flags of each. */
class Help {
  readonly #main: string;
  readonly #flags = new Map<string, ReadonlySet<string>>();
  readonly commands: ReadonlySet<string>;

  constructor(name: string) {
    this.#main = join(root, 'dist', `bgp-lb-${name}.mjs`);
    this.commands = new Set(
      [...this.#help([]).matchAll(/^ {2}bgp-lb-\w+ ([a-z-]+)/gm)].map(([, command = '']) => command),
    );
  }

  /** The default of a flag that has one. */
  defaultOf(command: string, flag: string): string | undefined {
    return new RegExp(`--${flag} [^\\n]*\\[default: "([^"]+)"\\]`).exec(
      this.#help([command]).replaceAll(/\n {10,}/g, ' '),
    )?.[1];
  }

  flagsOf(command: string): ReadonlySet<string> {
    const known = this.#flags.get(command);
    if (known !== undefined) return known;
    const flags = new Set(
      [...this.#help([command]).matchAll(/(?<![\w-])--?[a-z][\w-]*/g)].map(([flag]) => flag),
    );
    this.#flags.set(command, flags);
    return flags;
  }

  #help(args: readonly string[]): string {
    return spawnSync(process.execPath, [this.#main, ...args, '--help'], { encoding: 'utf8' }).stdout;
  }
}

const helps = { router: new Help('router'), speaker: new Help('speaker') };

/** Commands in a line of code: `bgp-lb-router drain --wait 1s`, `node /opt/bgp-lb/bgp-lb-speaker.mjs prepare`. */
function commandsIn(text: string): { name: 'router' | 'speaker'; command: string; flags: string[] }[] {
  const withoutComment = text.replace(/(^|\s)#.*$/, '');
  return [
    ...withoutComment.matchAll(/(?<![\w@/.-])(?:\S*\/)?bgp-lb-(router|speaker)(?:\.mjs)?((?: [^|&;`>]+)?)/g),
  ].flatMap(([, name, rest = '']) => {
    const [command, ...words] = rest.trim().split(/\s+/);
    // `systemctl start bgp-lb-router bgp-lb-router-drain` names units.
    if (command === undefined || !/^(?!bgp-lb)[a-z][a-z-]*$/.test(command)) return [];
    const flags = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.replace(/[=,].*$/, ''));
    return [{ name: name === 'router' ? ('router' as const) : ('speaker' as const), command, flags }];
  });
}

describe('the pages', () => {
  it('build the image that the manifest names', () => {
    const image = helps.speaker.defaultOf('manifest', 'image');
    expect(image).toMatch(/^bgp-lb\/speaker:/);
    for (const page of ['docs/install.md', 'docs/containers.md']) {
      expect(textOf(page)).toContain(`docker build -f deploy/Dockerfile --target speaker -t ${image} .`);
    }
  });

  it('name commands and flags that the programs have', () => {
    let looked = 0;
    const faults = faultsOf((_, { text }) =>
      commandsIn(text).flatMap(({ name, command, flags }) => {
        looked += 1;
        if (!helps[name].commands.has(command)) return [`bgp-lb-${name} has no command ${command}`];
        return (
          flags
            // Keys of the configuration are flags of the commands that read it.
            .filter((flag) => !flag.includes('.') && !helps[name].flagsOf(command).has(flag))
            .map((flag) => `bgp-lb-${name} ${command} has no flag ${flag}`)
        );
      }),
    );
    expect(faults).toEqual([]);
    expect(looked).toBeGreaterThan(50);
  });
});
