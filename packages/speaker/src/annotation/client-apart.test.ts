import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const bundle = (name: string): string =>
  readFileSync(new URL(`../../../../dist/${name}.mjs`, import.meta.url), 'utf8');
/** A class of @kubernetes/client-node that whoever uses it needs. */
const client = 'KubeConfig';

/** Read and compiled it costs a third of the speaker's memory, and few speakers need it. */
describe('the Kubernetes client', () => {
  it('is a file of its own, which the speaker imports only when it comes to that', () => {
    // The files are too long to be printed by a matcher that fails.
    expect(bundle('bgp-lb-speaker-kubernetes').includes(client)).toBe(true);
    const main = bundle('bgp-lb-speaker');
    expect(main.includes(client)).toBe(false);
    expect(main.match(/.{10}bgp-lb-speaker-kubernetes\.mjs/g)).toEqual([
      'import("./bgp-lb-speaker-kubernetes.mjs',
    ]);
  });
});
