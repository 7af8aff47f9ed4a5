import { describe, expect, it } from 'vitest';
import { ConfigError } from '../config/diagnostic.ts';
import { ControlClientError } from '../control/control-client.ts';
import { type Command, type CommandContext, UsageError } from './command.ts';
import { runCommandLine } from './run-command-line.ts';

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly context: CommandContext | undefined;
}

async function run(
  line: string,
  options: { env?: NodeJS.ProcessEnv; fail?: Error; code?: number } = {},
): Promise<Run> {
  let out = '';
  let err = '';
  let context: CommandContext | undefined;
  const act = (given: CommandContext): number | undefined => {
    context = given;
    if (options.fail !== undefined) throw options.fail;
    return options.code;
  };
  const commands: Command[] = [
    { syntax: 'run', describe: 'run the daemon', takesConfig: true, run: act },
    {
      syntax: 'neighbors [name]',
      describe: 'show the neighbors',
      prints: true,
      asksDaemon: true,
      run: (given) => {
        given.print([{ name: 'm1', up: true }]);
        return act(given);
      },
    },
    {
      syntax: 'drain <member>',
      describe: 'drain a member',
      asksDaemon: true,
      options: { force: { type: 'boolean', describe: 'also the last one' } },
      run: act,
    },
  ];
  const code = await runCommandLine({
    name: 'bgp-lb-router',
    version: '1.2.3',
    commands,
    configFile: '/etc/bgp-lb/router.yaml',
    socket: '/run/bgp-lb/router.sock',
    argv: line === '' ? [] : line.split(' '),
    env: options.env ?? {},
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
  });
  return { code, out, err, context };
}

describe('the command line', () => {
  it('runs a command with its arguments and defaults', async () => {
    const { code, context } = await run('drain m1 --force');
    expect(code).toBe(0);
    expect(context?.args).toMatchObject({ member: 'm1', force: true });
    expect(context?.socket).toBe('/run/bgp-lb/router.sock');
    expect(context?.configFile).toBe('/etc/bgp-lb/router.yaml');
  });

  it('takes socket and file from flags, else from variables', async () => {
    const env = { BGP_LB_SOCKET: '/env.sock', BGP_LB_CONFIG: '/env.yaml' };
    expect((await run('drain m1', { env })).context?.socket).toBe('/env.sock');
    expect((await run('drain m1 --socket /flag.sock', { env })).context?.socket).toBe('/flag.sock');
    expect((await run('run', { env })).context?.configFile).toBe('/env.yaml');
    expect((await run('run -c /flag.yaml', { env })).context?.configFile).toBe('/flag.yaml');
  });

  it('passes configuration keys on as they were written', async () => {
    const { context } = await run(
      'run --asn 64512 --vips.0.port=6443 --neighbors.0.asn 1.10 --routeToVip --api.socket /x',
    );
    expect(context?.configFlags).toEqual({
      asn: '64512',
      'vips.0.port': '6443',
      'neighbors.0.asn': '1.10',
      routeToVip: true,
      'api.socket': '/x',
    });
  });

  it.each([
    ['table', 'NAME  UP\nm1    yes\n'],
    ['json', '[\n  {\n    "name": "m1",\n    "up": true\n  }\n]\n'],
    ['yaml', '- name: m1\n  up: true\n'],
  ])('prints as %s', async (format, expected) => {
    expect((await run(`neighbors -o ${format}`)).out).toBe(expected);
  });

  it('prints help and version to standard output', async () => {
    for (const line of ['--help', '-h']) {
      const help = await run(line);
      expect(help).toMatchObject({ code: 0, err: '' });
      expect(help.out).toContain('bgp-lb-router neighbors [name]');
    }
    expect((await run('run --help')).out).toContain('Every key of the configuration is a flag too');
    expect(await run('--version')).toMatchObject({ code: 0, out: '1.2.3\n' });
  });
});

describe('exit codes', () => {
  it.each([
    ['', 'which command?'],
    ['neigbors', 'unknown command neigbors; did you mean neighbors?'],
    ['zebra', 'unknown command zebra; allowed: run, neighbors, drain'],
    ['neighbors a b', 'neighbors takes [name]; unknown: b'],
    [
      'run good.yaml',
      'run takes no arguments; unknown: good.yaml; a configuration is given by --config good.yaml',
    ],
    ['neighbors --sokcet /x', 'unknown flag --sokcet; did you mean --socket?'],
    ['neighbors -x', 'unknown flag -x\n'],
    ['neighbors -o xml', '--output: xml is not known; allowed: table, json, yaml\n'],
    ['neighbors -o', '-o needs a value\n'],
    ['neighbors --socket=', '--socket needs a value\n'],
    ['neighbors --socket /a --socket /b', '--socket is given more than once'],
    ['neighbors --log.level debug', 'unknown flag --log.level'],
    ['drain', 'drain needs MEMBER: drain <member>\n'],
    ['drain m1 --socket', '--socket needs a value\n'],
  ])('2 for %j', async (line, message) => {
    const result = await run(line);
    expect(result.code).toBe(2);
    expect(result.out).toBe('');
    expect(result.err).toContain(`bgp-lb-router: ${message}`);
  });

  it('is what the command returned', async () => {
    expect(await run('neighbors', { code: 1 })).toMatchObject({ code: 1, err: '' });
  });

  it.each([
    [
      'a configuration error',
      new ConfigError([{ origin: { kind: 'flag', name: 'asn' }, path: 'asn', message: 'is bad' }]),
      2,
      '--asn: asn: is bad\n',
    ],
    [
      'a usage error',
      new UsageError('no such member'),
      2,
      "bgp-lb-router: no such member\nTry 'bgp-lb-router --help'.\n",
    ],
    [
      'a daemon that does not run',
      new ControlClientError('the daemon does not run'),
      1,
      'bgp-lb-router: the daemon does not run\n',
    ],
    ['words of the network', new Error('a\u001b[2Jb'), 1, 'bgp-lb-router: a\\u001b[2Jb\n'],
  ])('and message for %s', async (_, fail, code, err) => {
    expect(await run('run', { fail })).toMatchObject({ code, err });
  });

  it('shows the stack of a programming error', async () => {
    expect((await run('run', { fail: new TypeError('x') })).err).toMatch(/TypeError: x\n +at /);
  });
});
