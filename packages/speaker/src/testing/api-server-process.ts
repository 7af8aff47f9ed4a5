/**
 * A stand-in for an API server, with one Node that may be listed and watched. Arguments: port, key file, certificate file. Input, one JSON text per line: `"ready"`, `"red"`,
 * `"forbidden"`, `"shutdown"` (red, names the check), `"hang"`, `"close"` (the port), `"open"`, or
 * `"annotate WORD"`: the drain annotation of the Node. Each is answered by `{mode}`.
 */
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { createInterface } from 'node:readline';

const [port, key, cert] = process.argv.slice(2);
let mode = 'red';

const answers: Readonly<Record<string, readonly [number, string]>> = {
  ready: [200, 'ok'],
  red: [500, '[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n'],
  shutdown: [500, '[+]ping ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n'],
  forbidden: [403, '{"kind":"Status","code":403}'],
};

const watches = new Set<ServerResponse>();
let version = 1;
let annotation: string | undefined;

function node(): object {
  const annotations = annotation === undefined ? {} : { 'bgp-lb.dev/drain': annotation };
  return { kind: 'Node', metadata: { name: 'master', resourceVersion: String(version), annotations } };
}

function answerNodes(query: URLSearchParams, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const list = { kind: 'NodeList', metadata: { resourceVersion: String(version) }, items: [node()] };
  if (query.get('watch') !== 'true') {
    response.end(JSON.stringify(list));
    return;
  }
  response.flushHeaders();
  // What happened between the list and the watch is told as well.
  if (query.get('resourceVersion') !== String(version)) tell(response);
  watches.add(response);
  response.on('close', () => watches.delete(response));
}

function tell(watch: ServerResponse): void {
  watch.write(`${JSON.stringify({ type: 'MODIFIED', object: node() })}\n`);
}

function annotate(word: string): void {
  annotation = word;
  version += 1;
  for (const watch of watches) tell(watch);
}

const server = createServer(
  { key: readFileSync(key ?? ''), cert: readFileSync(cert ?? '') },
  ({ url = '' }, response) => {
    if (url.startsWith('/api/v1/nodes?')) {
      answerNodes(new URL(url, 'https://node').searchParams, response);
      return;
    }
    const answer = answers[mode];
    if (answer !== undefined) response.writeHead(answer[0]).end(answer[1]);
  },
);

async function turn(next: string): Promise<void> {
  if (next === 'close') {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  } else if (next === 'open') await listen();
  else if (next.startsWith('annotate ')) annotate(next.slice(9));
  else mode = next;
  process.stdout.write(`${JSON.stringify({ mode: next })}\n`);
}

function listen(): Promise<void> {
  return new Promise((resolve) => server.listen(Number(port), '0.0.0.0', resolve));
}

createInterface({ input: process.stdin }).on('line', (line) => void turn(JSON.parse(line)));
await turn('open');
