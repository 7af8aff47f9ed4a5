import { mkdtempSync, rmSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiServer } from './api-server-stand-in.ts';
import { createAuthority, issueServingCertificate, readPem } from './cluster-pki.ts';
import { readBody } from './request-body.ts';
import { waitUntil } from './wait-until.ts';

describe('the API server stand-in', () => {
  let folder: string;
  let server: ApiServer;
  let port: number;
  const sockets: TLSSocket[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(`${tmpdir()}/bgplb-api-`);
    await createAuthority(folder);
    const address = '127.0.0.1';
    await issueServingCertificate(folder, {
      nodeName: 'm1',
      nodeAddress: address,
      serviceAddress: '10.96.0.1',
      endpointAddress: '10.100.0.1',
    });
    server = new ApiServer({
      nodeName: 'm1',
      port: 0,
      ca: readPem(folder, 'ca.crt'),
      certificate: readPem(folder, 'apiserver.crt'),
      key: readPem(folder, 'apiserver.key'),
      storeFolder: `${folder}/store`,
      mode: 'ready',
      shutdownDelay: 300,
    });
    await server.start();
    port = server.port ?? 0;
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function get(path: string, timeout = 2_000): Promise<{ status: number; body: string }> {
    const signal = AbortSignal.timeout(timeout);
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path, ca: readPem(folder, 'ca.crt'), agent: false, signal };
      request(options, (answer) => {
        readBody(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject);
      })
        .on('error', reject)
        .end();
    });
  }

  async function openStream(): Promise<{ socket: TLSSocket; text: () => string }> {
    const socket = connect({ host: '127.0.0.1', port, ca: readPem(folder, 'ca.crt') });
    sockets.push(socket);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => undefined);
    socket.write('GET /stream HTTP/1.1\r\nHost: k\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\nfirst\n');
    await waitUntil(() => text.endsWith('m1\n'), { what: 'first answer on the stream' });
    return { socket, text: () => text };
  }

  it('answers /readyz as its mode has it', async () => {
    expect(await get('/readyz')).toEqual({ status: 200, body: 'ok' });
    await server.setMode('not-ready', ['etcd']);
    expect(await get('/readyz')).toMatchObject({
      status: 500,
      body: expect.stringContaining('[-]etcd failed'),
    });
    await server.setMode('forbidden');
    expect((await get('/readyz')).status).toBe(403);
    await server.setMode('unauthorized');
    expect((await get('/readyz')).status).toBe(401);
    expect((await get('/livez')).status).toBe(200);
  });

  it('answers /readyz late in mode slow', async () => {
    await server.setMode('slow');
    const started = performance.now();
    expect(await get('/readyz', 10_000)).toMatchObject({ status: 200 });
    expect(performance.now() - started).toBeGreaterThan(990);
  });

  it('accepts TLS but never answers in mode hang', async () => {
    await server.setMode('hang');
    const socket = connect({ host: '127.0.0.1', port, ca: readPem(folder, 'ca.crt') });
    sockets.push(socket);
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    await expect(get('/readyz', 200)).rejects.toThrow(/abort/i);
  });

  it('refuses connections in mode closed and keeps those that are open', async () => {
    const { socket, text } = await openStream();
    await server.setMode('closed');
    await expect(get('/readyz')).rejects.toThrow('ECONNREFUSED');
    const before = text().length;
    socket.write('still there?\n');
    await waitUntil(() => text().length > before, { what: 'an answer on the open stream' });
  });

  it('answers each line of a stream with its name', async () => {
    const { socket, text } = await openStream();
    socket.write('a\nb\n');
    await waitUntil(() => text().endsWith('m1\nm1\nm1\n'), { what: 'three answers' });
    expect(server.state().streams).toBe(1);
  });

  it('shows its objects to nobody without a client certificate, except cluster-info', async () => {
    expect((await get('/api/v1/namespaces/kube-system/secrets/kubeadm-certs')).status).toBe(403);
    expect((await get('/api/v1/namespaces/kube-public/configmaps/cluster-info')).status).toBe(404);
  });

  it('answers what is under way when its port closes, and lets clients of HTTP/2 heed the GOAWAY', async () => {
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: readPem(folder, 'ca.crt') });
    const errors: unknown[] = [];
    session.on('error', (error) => errors.push(error));
    const slow = session.request({ ':path': '/slow?ms=60000' });
    const slowHttp1 = get('/slow?ms=60000', 20_000);
    await waitUntil(() => server.state().inFlight === 2, { what: 'both requests' });
    const isClosed = new Promise((resolve) => session.once('close', resolve));
    const goAway = new Promise((resolve) => session.once('goaway', resolve));
    const stopped = server.stop();
    await goAway;
    await expect(get('/version')).rejects.toThrow('ECONNREFUSED');
    expect(await readBody(slow)).toContain('gitVersion');
    expect(await slowHttp1).toMatchObject({ status: 200 });
    await isClosed;
    expect(errors).toEqual([]);
    await stopped;
  });

  it('turns /readyz red at once when it stops, serves on, and then closes the port', async () => {
    const { socket } = await openStream();
    let isEnded = false;
    socket.on('end', () => {
      isEnded = true;
    });
    const stopped = server.stop();
    expect(await get('/readyz')).toMatchObject({
      status: 500,
      body: expect.stringContaining('[-]shutdown failed: reason withheld'),
    });
    expect((await get('/version')).status).toBe(200);
    expect(isEnded).toBe(false);
    await stopped;
    await expect(get('/readyz')).rejects.toThrow('ECONNREFUSED');
    await waitUntil(() => isEnded, { what: 'the end of the stream' });
  });
});
