import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));
/** Every page that a reader may come to. */
const pages = files.filter((file) => file.endsWith('.md') && !file.includes('node_modules/'));
const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');

/** What stands in a page as code: blocks, and words in the text, each with its line. */
interface Code {
  readonly line: number;
  readonly text: string;
}

function codeOf(text: string): Code[] {
  let isBlock = false;
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*```/.test(line)) {
      isBlock = !isBlock;
      return [];
    }
    if (isBlock || /^ {4}\S/.test(line)) return [{ line: index + 1, text: line.trim() }];
    return [...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => ({ line: index + 1, text: code }));
  });
}

/** Each fault with its page and line. */
const faultsOf = (look: (page: string, code: Code) => readonly string[]): string[] =>
  pages.flatMap((page) =>
    codeOf(textOf(page)).flatMap((code) => look(page, code).map((fault) => `${page}:${code.line}: ${fault}`)),
  );

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
  it('link to files that are there', () => {
    const broken = pages.flatMap((page) =>
      [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !/^(https?:|mailto:|#)/.test(target))
        .filter(
          (target) => !existsSync(join(root, normalize(join(dirname(page), target.replace(/#.*$/, ''))))),
        )
        .map((target) => `${page}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('link to headings that are there', () => {
    const anchorsOf = (page: string): ReadonlySet<string> =>
      new Set(
        [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
          heading
            .toLowerCase()
            .replace(/[^\p{L}\p{N}\s_-]/gu, '')
            .replaceAll(/\s/g, '-'),
        ),
      );
    const broken = pages.flatMap((page) =>
      [...textOf(page).matchAll(/\]\(([^)\s#]*)#([^)\s]+)\)/g)]
        .filter(([, target = '']) => !/^https?:/.test(target) && (target === '' || target.endsWith('.md')))
        .filter(([, target = '', anchor = '']) => {
          const file = target === '' ? page : normalize(join(dirname(page), target));
          return existsSync(join(root, file)) && !anchorsOf(file).has(anchor);
        })
        .map(([link]) => `${page}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('name source files that are there', () => {
    const faults = faultsOf((_, { text }) =>
      [...text.matchAll(/(?<![\w/.-])((?:[\w.-]+\/)*\w[\w.-]*\.(?:ts|sh))(?![\w/])/g)]
        .map(([, name = '']) => name)
        .filter((name) => !name.startsWith('dist/'))
        .filter((name) => !files.some((file) => file === name || file.endsWith(`/${name}`)))
        .map((name) => `no file ${name}`),
    );
    expect(faults).toEqual([]);
  });

  it('name npm scripts and test projects that are there', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    const projects = new Set(
      [...textOf('vitest.config.ts').matchAll(/name: '([\w-]+)'/g)].map(([, name]) => name),
    );
    const faults = faultsOf((_, { text }) => [
      ...[...text.matchAll(/npm run ([\w-]+)/g)]
        .filter(([, name = '']) => scripts[name] === undefined)
        .map(([command]) => `no ${command}`),
      ...[...text.matchAll(/--project ([\w-]+)/g)]
        .filter(([, name]) => !projects.has(name))
        .map(([option]) => `no ${option}`),
    ]);
    expect(faults).toEqual([]);
  });

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
