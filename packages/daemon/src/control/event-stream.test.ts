import { afterEach, describe, expect, it } from 'vitest';
import { RawClient } from '../testing/raw-http.ts';
import { type RunningServer, runningServer } from '../testing/running-server.ts';
import { controlEvents } from './control-client.ts';

let running: RunningServer | undefined;
const clients: RawClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await running?.close();
  running = undefined;
});

async function start(options: Parameters<typeof runningServer>[0] = {}): Promise<RunningServer> {
  running = await runningServer(options);
  return running;
}

/** Opens a stream and waits until the server serves it. */
async function follow(
  target: number | string,
  query = '',
  headers: readonly string[] = [],
): Promise<RawClient> {
  const client = new RawClient(target);
  clients.push(client);
  const lines = ['Host: localhost', 'Accept: text/event-stream', ...headers]
    .map((line) => `${line}\r\n`)
    .join('');
  await client.send(`GET /api/v1/events${query} HTTP/1.1\r\n${lines}\r\n`).until('\r\n\r\n');
  return client;
}

describe('an event stream', () => {
  it('carries each new event with id, type and JSON', async () => {
    const { port, events } = await start();
    events.append('old');
    const client = await follow(port);
    events.append('member-out', { member: 'm1' });
    const text = await client.until('"m1"');
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Type: text\/event-stream/);
    expect(text).toContain(`id: ${events.instance}-2\nevent: member-out\ndata: {"sequence":2,`);
    expect(text).not.toContain('event: old');
  });

  it('begins with kept events when it is asked for them', async () => {
    const { port, events } = await start();
    events.append('first');
    events.append('second');
    const client = await follow(port, '?since=0');
    expect(await client.until('event: second')).toContain('event: first');
  });

  it('resumes after the event that the client saw last', async () => {
    const { port, events } = await start();
    for (const type of ['one', 'two', 'three']) events.append(type);
    const client = await follow(port, '', [`Last-Event-ID: ${events.instance}-2`]);
    expect(await client.until('event: three')).not.toContain('event: two');
  });

  it('gives everything that is kept when the id is of an earlier life of the daemon', async () => {
    const { port, events } = await start();
    events.append('one');
    events.append('two');
    const client = await follow(port, '', ['Last-Event-ID: 00000000-900']);
    expect(await client.until('event: two')).toContain('event: one');
  });

  it('says how many events are lost to a client that was away too long', async () => {
    const { port, events } = await start();
    for (let index = 0; index < 150; index++) events.append('tick');
    const client = await follow(port, '', [`Last-Event-ID: ${events.instance}-10`]);
    expect(await client.until(`id: ${events.instance}-150\n`)).toContain(
      'event: missed\ndata: {"missed":40}',
    );
  });

  it('cannot be forged by a line feed in a type', async () => {
    const { port, events } = await start();
    const client = await follow(port);
    events.append('a\ndata: forged\n\n');
    events.append('end');
    expect(await client.until('event: end')).not.toMatch(/^data: forged/m);
  });

  it('whose client does not read is cut off at a bound', async () => {
    const { port, events, server, log } = await start();
    const client = await follow(port);
    client.socket.pause();
    const padding = 'x'.repeat(1000);
    // Kernel buffers take some megabytes before anything waits in the process.
    for (let index = 0; index < 40_000 && log.length === 0; index++) {
      events.append('tick', { padding });
      if (index % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(log).toMatchObject([{ msg: 'an event stream was cut off: its client reads too slowly' }]);
    client.socket.resume();
    await client.closed();
    expect(server.address).toBeDefined();
  });

  it('beyond the number that is served is refused with 503', async () => {
    const { port } = await start({ maxStreams: 2 });
    const first = await follow(port);
    await follow(port);
    expect((await follow(port)).received).toMatch(/^HTTP\/1\.1 503 [\s\S]*Retry-After: 5/);
    first.socket.destroy();
    await expect.poll(async () => (await follow(port)).received).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('ends when the server closes', async () => {
    const { port, server } = await start();
    const client = await follow(port);
    await server.close();
    await client.closed();
    expect(client.isClosed).toBe(true);
  });
});

describe('controlEvents', () => {
  it('delivers events until it is stopped', async () => {
    const { socketPath, events } = await start();
    events.append('kept', { text: 'line\nfeed' });
    const abort = new AbortController();
    const heard: unknown[] = [];
    const following = controlEvents(
      socketPath,
      (event) => {
        heard.push(event);
        if (heard.length === 1) events.append('new');
        else abort.abort();
      },
      { since: 0, signal: abort.signal },
    );
    await following;
    expect(heard).toMatchObject([{ type: 'kept', text: 'line\nfeed' }, { type: 'new' }]);
  });

  it('ends when the daemon does', async () => {
    const { socketPath, events, server } = await start();
    events.append('kept');
    await controlEvents(socketPath, () => void server.close(), { since: 0 });
  });
});
