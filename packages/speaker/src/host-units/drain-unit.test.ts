import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drainUnit } from './drain-unit.ts';

const options = { program: ['/bin/true'], socket: '/run/bgp-lb/speaker.sock', timeout: 60_000 };

describe('the unit that drains before the host shuts down', () => {
  it('is stopped before kubelet and container runtime, has the time that a drain takes, and does not outlive the boot', () => {
    const unit = drainUnit(options);
    const after = /^After=(.*)$/m.exec(unit)?.[1]?.split(' ');
    for (const service of ['kubelet.service', 'containerd.service', 'crio.service', 'docker.service'])
      expect(after).toContain(service);
    expect(unit).toContain(
      '\nExecStop=-/bin/true drain --force --until-reboot --socket /run/bgp-lb/speaker.sock\n',
    );
    expect(unit).toContain('\nTimeoutStopSec=90\n');
    // RemainAfterExit: a unit that has ended would not be stopped.
    expect(unit).toMatch(/\nType=oneshot\nRemainAfterExit=yes\n/);
  });

  it('passes paths on as they are', () => {
    expect(drainUnit({ ...options, socket: '/run/a b/%n$x.sock' })).toContain('"/run/a b/%%n$$x.sock"');
  });

  it('is one that systemd takes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'bgp-lb-unit-'));
    try {
      const file = join(folder, 'bgp-lb-drain.service');
      writeFileSync(file, drainUnit(options));
      const said = execFileSync('systemd-analyze', ['verify', '--man=no', file], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      expect(said).toBe('');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
