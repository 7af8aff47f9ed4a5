/** Program: the lab's client. Commands come as JSON lines on standard input, results go to standard output. */
import { createInterface } from 'node:readline';
import type { ClientCall, ClientCommandName, ClientCommands, ClientReply } from '../client-protocol.ts';
import { ConnectionPool } from './connection-pool.ts';
import { newRequest } from './new-request.ts';
import { RequestLoop } from './request-loop.ts';

const pool = new ConnectionPool();
let loop: RequestLoop | undefined;

function runningLoop(): RequestLoop {
  if (loop === undefined) throw new Error('no loop is running');
  return loop;
}

type Commands = {
  readonly [N in ClientCommandName]: (
    options: ClientCommands[N]['arguments'],
  ) => ClientCommands[N]['result'] | Promise<ClientCommands[N]['result']>;
};

const commands: Commands = {
  open: (options) => pool.open(options),
  check: ({ timeout }) => pool.check(timeout),
  request: newRequest,
  startLoop(options) {
    if (loop !== undefined) throw new Error('a loop is running already');
    loop = new RequestLoop(options);
    return {};
  },
  markLoop() {
    runningLoop().mark();
    return {};
  },
  loopReport: () => runningLoop().report(),
  async stopLoop() {
    const report = await runningLoop().stop();
    loop = undefined;
    return report;
  },
  closeAll() {
    pool.closeAll();
    return {};
  },
};

async function run<N extends ClientCommandName>(name: N, options: unknown): Promise<unknown> {
  // The only writer is the lab's ClientHost, whose methods are typed by the same table.
  return commands[name](options as ClientCommands[N]['arguments']);
}

function reply(line: ClientReply): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, command, arguments: options } = JSON.parse(line) as ClientCall;
  run(command, options).then(
    (result) => reply({ id, result }),
    (error: unknown) => reply({ id, error: error instanceof Error ? error.message : String(error) }),
  );
});
lines.on('close', () => process.exit(0));
