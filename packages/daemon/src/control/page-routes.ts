import { readFile } from 'node:fs/promises';
import { ControlError, ControlReply, type ControlRoute } from './control-route.ts';

/** A page with all that it loads, by path (`/`, `/page.js`), as `scripts/bundle.ts` writes it. */
export interface PageFiles {
  readonly [path: string]: { readonly contentType: string; readonly body: string };
}

/** The page loads nothing from elsewhere, runs no script that stands in it, and is shown in no frame. */
const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/** Where the files of a page are. The bundle has them beside it. */
const PATHS = ['/', '/page.js', '/page.css'] as const;

/**
 * The routes of a daemon's page. The file is read at the first request, since few daemons are ever looked at.
 * @param read gives the text of the file that `scripts/bundle.ts` made
 */
export function pageRoutes(read: () => Promise<string>): ControlRoute[] {
  let files: Promise<PageFiles> | undefined;
  const load = (): Promise<PageFiles> => {
    files ??= read().then((text) => JSON.parse(text) as PageFiles);
    // What is missing now may be there later.
    files.catch(() => {
      files = undefined;
    });
    return files;
  };
  return PATHS.map((path) => ({
    method: 'GET',
    path,
    handle: async () => {
      const page = await load().catch((error: unknown) => {
        const text = error instanceof Error ? error.message : String(error);
        throw new ControlError(404, `the page is not installed: ${text}`);
      });
      const file = page[path];
      if (file === undefined) throw new ControlError(404, `there is nothing at ${path}`);
      return new ControlReply(file.contentType, file.body, PAGE_HEADERS);
    },
  }));
}

/**
 * Reads the page beside a bundle, `bgp-lb-router-page.json` beside `bgp-lb-router.mjs`.
 * @param program URL of the module that runs; from the sources, it is the one that the last bundle was made with
 */
export function readPage(program: string, name: 'router' | 'speaker'): Promise<string> {
  const file = `bgp-lb-${name}-page.json`;
  const isBundle = program.endsWith('.mjs');
  return readFile(new URL(isBundle ? file : `../../../../dist/${file}`, program), 'utf8');
}
