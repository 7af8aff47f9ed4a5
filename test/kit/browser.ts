/** Debian's Chromium on a host of the lab: it sees that host's loopback, and nothing of the machine's own network. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import type { Host } from '../../scripts/lab/host.ts';

/** Starts it. Its files are in the host's folder. The caller closes it before the lab is destroyed. */
export function startBrowser(host: Host): Promise<Browser> {
  const home = host.path('chromium');
  mkdirSync(home, { recursive: true });
  const program = `${home}/chromium.sh`;
  writeFileSync(
    program,
    `#!/bin/sh\nexport HOME=${home} XDG_CONFIG_HOME=${home} XDG_CACHE_HOME=${home}\nexec nsenter --net=/run/netns/${host.namespace} /usr/bin/chromium "$@"\n`,
    { mode: 0o755 },
  );
  return chromium.launch({
    executablePath: program,
    // Tests run as root, and a namespace of the sandbox would not be the lab's.
    chromiumSandbox: false,
    args: ['--disable-gpu', '--disable-dev-shm-usage'],
  });
}
