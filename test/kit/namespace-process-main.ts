/** The other side of NamespaceProcess: imports a module, then runs functions on it until it is killed. */
import { inspect } from 'node:util';
import type { RunAnswer, RunRequest } from './namespace-process.ts';

type Body = (subject: unknown, argument: unknown) => unknown;

const [, , module = ''] = process.argv;
const subject: unknown = await import(module);

process.on('message', (request: RunRequest) => {
  run(request).then(
    (result) => answer({ id: request.id, result }),
    (thrown: unknown) => answer({ id: request.id, thrown: describe(thrown) }),
  );
});
// The test is gone: so is the need for this process.
process.on('disconnect', () => process.exit());
answer({ ready: true });

async function run({ source, argument }: RunRequest): Promise<unknown> {
  const text = `export const body = ${source};`;
  const { body }: { body: Body } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  return body(subject, argument);
}

/** The error with its stack, in which the function's own source text is only named. */
function describe(thrown: unknown): string {
  return inspect(thrown).replaceAll(/data:text\/javascript,\S+?(?=:\d+:\d+)/g, 'the function of the test');
}

function answer(message: RunAnswer): void {
  process.send?.(message);
}
