import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatRouterId } from '@bgp-lb/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RouterConfig } from '../config/router-config.ts';
import { routerSchema } from '../config/schema.ts';
import { chooseRouterId, type IdentityHost } from './router-identity.ts';

let folder: string;
/** What was complained of. */
let problems: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'router-id-'));
  problems = [];
});

afterEach(() => rmSync(folder, { recursive: true }));

function config(changed: Record<string, unknown> = {}): RouterConfig {
  return routerSchema.parse({
    asn: 64512,
    vips: [{ address: '10.100.0.1' }],
    neighbors: [{ name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512 }],
    stateDir: folder,
    ...changed,
  });
}

function host(source: string | undefined, machine?: string): IdentityHost {
  return { sourceTowards: () => source, machineId: () => machine };
}

function chosen(settings: RouterConfig, on: IdentityHost): string {
  return formatRouterId(chooseRouterId(settings, on, (problem) => problems.push(problem)));
}

describe('the router id', () => {
  it('is the configured one, whatever the host says', () => {
    expect(chosen(config({ routerId: '192.0.2.1' }), host('10.0.0.10'))).toBe('192.0.2.1');
  });

  it('is the source address towards the first neighbor', () => {
    expect(chosen(config(), host('10.0.0.10'))).toBe('10.0.0.10');
  });

  it('asks for a host of the range, not for the address of the network', () => {
    const asked: string[] = [];
    chosen(config(), { ...host(undefined, 'm'), sourceTowards: (address) => void asked.push(address) });
    expect(asked).toEqual(['10.0.0.1']);
  });

  it('is any, and kept, where there is no neighbor and the host has nothing to make one of', () => {
    const listed = [{ address: '10.100.0.1', members: { bgp: false, static: [{ address: 'm1' }] } }];
    const alone = config({ neighbors: [], vips: listed });
    const first = chosen(alone, host(undefined));
    expect(first).not.toBe('0.0.0.0');
    expect(chosen(alone, host(undefined))).toBe(first);
    rmSync(join(folder, 'router-id'));
    expect(chosen(alone, host(undefined))).not.toBe(first);
    expect(() => {
      rmSync(join(folder, 'router-id'));
      chosen(config(), host(undefined));
    }).toThrow('set routerId');
  });

  it('stays the same when the host would say another one later', () => {
    expect(chosen(config(), host('10.0.0.10'))).toBe('10.0.0.10');
    expect(readFileSync(join(folder, 'router-id'), 'utf8')).toBe('10.0.0.10\n');
    expect(chosen(config(), host('10.0.0.99'))).toBe('10.0.0.10');
    expect(problems).toEqual([]);
  });

  it('is used also where the disk does not take it, which is told', () => {
    // As on a full disk, but for root too: there is no room for a file below a file.
    writeFileSync(join(folder, 'file'), '');
    expect(chosen(config({ stateDir: join(folder, 'file') }), host('10.0.0.10'))).toBe('10.0.0.10');
    expect(problems).toEqual([expect.stringMatching(/^the router id 10\.0\.0\.10 cannot be kept.*EEXIST/)]);
  });

  it.each(['10.100.0.1', '127.0.0.1'])('is never %s: a VIP or loopback is on every machine', (address) => {
    expect(chosen(config(), host(address, 'machine'))).not.toBe(address);
  });

  it('is a hash of the machine id on a host without IPv4, and differs between machines', () => {
    const first = chosen(config(), host(undefined, 'one'));
    rmSync(join(folder, 'router-id'));
    expect(chosen(config(), host(undefined, 'two'))).not.toBe(first);
  });

  it('is an error that says what to set when nothing is known', () => {
    expect(() => chosen(config(), host(undefined))).toThrow('set routerId');
  });
});
