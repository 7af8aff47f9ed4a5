/**
 * A container engine for machines that have none: `node scripts/engine.ts run COMMAND...`, `start`, `stop`.
 *
 * `run` starts an engine, makes or imports the base image, runs the command with DOCKER_HOST and BASE_IMAGE set, and
 * ends the engine: `node scripts/engine.ts run docker-compose up --build`. `start` leaves it running and prints what to
 * put into the environment; `stop` ends what `start` began. Another engine on the machine is neither used nor touched.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { baseImage, importBaseImage } from './engine/base-image.ts';
import { ContainerEngine } from './engine/container-engine.ts';

const say = (text: string): void => console.error(`engine: ${text}`);

async function run(argv: readonly string[]): Promise<number> {
  const [program = '', ...args] = argv;
  const engine = await ContainerEngine.start();
  // The command gets the terminal's signals too, and its end is ours.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  try {
    await importBaseImage(engine, say);
    const env = { ...process.env, ...engine.environment, BASE_IMAGE: baseImage };
    const command = spawn(program, args, { stdio: 'inherit', env });
    const [code] = (await once(command, 'exit')) as [number | null];
    return code ?? 1;
  } finally {
    await engine.stop();
  }
}

async function start(): Promise<number> {
  const engine = await ContainerEngine.start({ isKept: true });
  try {
    await importBaseImage(engine, say);
  } catch (error) {
    await engine.stop();
    throw error;
  }
  for (const [name, value] of Object.entries({ ...engine.environment, BASE_IMAGE: baseImage })) {
    console.log(`export ${name}=${value}`);
  }
  return 0;
}

async function stop(): Promise<number> {
  const engines = ContainerEngine.kept();
  if (engines.length === 0) say('no engine of ours runs');
  await Promise.all(engines.map((engine) => engine.stop()));
  return 0;
}

async function main([command, ...rest]: readonly string[]): Promise<number> {
  if (command === 'run' && rest.length > 0) return run(rest);
  if (command === 'start' && rest.length === 0) return start();
  if (command === 'stop' && rest.length === 0) return stop();
  say('usage: engine.ts run COMMAND... | start | stop');
  return 2;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
