import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lab } from './lab.ts';

/** A program with the daemon's command line that serves a status at its socket, or ends when told to by its config. */
const fakeDaemon = `
  import { readFileSync } from 'node:fs';
  import { createServer } from 'node:http';
  const [command, flag, file] = process.argv.slice(2);
  const config = JSON.parse(readFileSync(file, 'utf8'));
  if (config.log.level === 'broken') { console.error('no such level: broken'); process.exit(2); }
  const start = Date.now();
  createServer((_, answer) => answer.end(JSON.stringify({
    command, flag, routerId: config.routerId, asn: config.asn,
    vips: [{ vip: '10.100.0.1/32', members: Date.now() - start < 100 ? [] :
      [{ nextHop: '10.0.0.12', inPool: true }, { nextHop: '10.0.0.11', inPool: false }] }],
  }))).listen(config.api.socket);`;

describe('a daemon on a lab host', () => {
  let folder: string;
  let lab: Lab;

  beforeAll(async () => {
    folder = mkdtempSync(`${tmpdir()}/bgplb-daemon-`);
    writeFileSync(`${folder}/daemon.mjs`, fakeDaemon);
    lab = await Lab.create({
      masters: 1,
      programs: { router: `${folder}/daemon.mjs` },
      router: { healthCheck: { interval: '50ms' }, log: { level: 'info' } },
    });
  });
  afterAll(async () => {
    await lab.destroy();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is started with its configuration and asked by its control socket', async () => {
    await lab.lb.router.start();
    expect(await lab.lb.router.status()).toMatchObject({
      command: 'run',
      flag: '--config',
      routerId: '10.0.0.10',
      asn: 64512,
    });
    await lab.lb.waitForPool(['10.0.0.12']);
    expect(await lab.lb.pool()).toEqual(['10.0.0.12']);
  });

  it('tells the last status when what is waited for does not come', async () => {
    await expect(lab.lb.waitForPool(['10.0.0.11'], 100)).rejects.toThrow(
      /pool \[10\.0\.0\.11\][\s\S]*last status: .*"nextHop":"10\.0\.0\.12"/,
    );
  });

  it('ends by kill, and tells its log when it does not start', async () => {
    await lab.lb.router.kill();
    expect(lab.lb.router.process?.exit).toEqual({ code: undefined, signal: 'SIGKILL' });
    lab.lb.writeConfig({ log: { level: 'broken' } });
    await expect(lab.lb.router.start()).rejects.toThrow(/"code":2[\s\S]*no such level: broken/);
  });
});
