import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultsOf, files, pages, root, textOf } from './pages.ts';

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

  it('name npm scripts and test projects that are there', async () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    const { default: config } = (await import(new URL('../vitest.config.ts', import.meta.url).href)) as {
      default: { test: { projects: readonly { test: { name: string } }[] } };
    };
    const projects = new Set(config.test.projects.map(({ test }) => test.name));
    const faults = faultsOf((_, { text }) => [
      ...[...text.matchAll(/npm run ([\w-]+)/g)]
        .filter(([, name = '']) => scripts[name] === undefined)
        .map(([command]) => `no ${command}`),
      ...[...text.matchAll(/--project ([\w-]+)/g)]
        .filter(([, name = '']) => !projects.has(name))
        .map(([option]) => `no ${option}`),
    ]);
    expect(faults).toEqual([]);
  });
});
