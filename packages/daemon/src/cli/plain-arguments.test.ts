import { describe, expect, it } from 'vitest';
import type { Command } from './command.ts';
import { plainArguments } from './plain-arguments.ts';
import { runCommandLine } from './run-command-line.ts';

const RUN: Command = { syntax: 'run', describe: 'run the daemon', takesConfig: true, run: () => 0 };

/** What the full parser makes of the same line: an option of the command's own keeps it from being read as plain. */
async function byFullParser(args: readonly string[]): Promise<{ config: string; flags: object }> {
  let seen = { config: '', flags: {} };
  const command: Command = {
    ...RUN,
    options: { unused: { type: 'boolean' } },
    run: ({ configFile, configFlags }) => {
      seen = { config: configFile, flags: configFlags };
      return 0;
    },
  };
  const paths = { configFile: 'default', socket: 's' };
  await runCommandLine({
    name: 'x',
    version: '1',
    commands: [command],
    ...paths,
    argv: ['run', ...args],
    env: {},
  });
  return seen;
}

describe('a plain line', () => {
  it.each([
    [[]],
    [['--config', '/etc/x.yaml']],
    [['-c', '/etc/x.yaml', '--asn', '64512']],
    [['--config=/etc/x.yaml', '--log.level=debug', '--vips.0.port', '6443']],
    [['--asn=1=2', '--neighbors.0.asn', '1.10', '--a', '']],
    [['--asn', '1', '--asn', '2', '--asn=3']],
    [['--routeToVip=true', '--vips=[{ address: 10.0.0.1 }]']],
  ])('%j means the same to both parsers', async (args) => {
    const { config, ...flags } = plainArguments(RUN, args) ?? { config: 'not plain' };
    expect({ config: config ?? 'default', flags }).toEqual(await byFullParser(args));
  });

  it.each([
    [['--help']],
    [['-h']],
    [['--version']],
    [['extra']],
    [['--routeToVip']],
    [['--routeToVip', '--asn', '1']],
    [['--a', '-1']],
    [['--', 'x']],
    [['-x', '1']],
    [['--__proto__', '1']],
  ])('is not %j, which the full parser reads', (args) => {
    expect(plainArguments(RUN, args)).toBeUndefined();
  });

  it('is only that of a command without other arguments', () => {
    expect(plainArguments({ ...RUN, prints: true }, [])).toBeUndefined();
    expect(plainArguments({ ...RUN, asksDaemon: true }, [])).toBeUndefined();
    expect(plainArguments({ ...RUN, syntax: 'run <x>' }, [])).toBeUndefined();
    expect(plainArguments({ ...RUN, takesConfig: false }, [])).toBeUndefined();
  });
});
