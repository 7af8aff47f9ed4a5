/**
 * Takes an effective capability from a Node process that runs, or gives it back, by capset(2) on its main thread: capabilities
 * belong to threads, and nothing else can set them. Run in the network namespace of the process, whose inspector SIGUSR1 opens.
 *
 *     node take-capability.ts PID PROGRAM NUMBER take|give
 *
 * PROGRAM is a file beside which its koffi is found.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** Where Node's inspector listens. */
const inspector = '127.0.0.1:9229';
const patience = 20_000;

const [pid = '', program = '', capability = '', order = ''] = process.argv.slice(2);

process.kill(Number(pid), 'SIGUSR1');
const result = await evaluate(await inspectorUrl(), expression(order === 'give'));
if (result !== 0) throw new Error(`capset: ${JSON.stringify(result)}`);

function expression(isGiven: boolean): string {
  // struct __user_cap_header_struct of version 3, and two of __user_cap_data_struct: effective, permitted, inheritable.
  return `(() => {
    const require = process.getBuiltinModule('node:module').createRequire(${JSON.stringify(program)});
    const libc = require('koffi').load(null);
    const header = new Uint8Array(Uint32Array.of(0x20080522, 0).buffer);
    const data = new Uint32Array(6);
    const bytes = new Uint8Array(data.buffer);
    const call = (name) => libc.func('int ' + name + '(void *header, void *data)')(header, bytes);
    if (call('capget') !== 0) return 'capget failed';
    const at = ${Number(capability) >> 5} * 3;
    const bit = 1 << ${Number(capability) & 31};
    data[at] = ${isGiven} ? data[at] | bit : data[at] & ~bit;
    return call('capset');
  })()`;
}

/** The address of the debugger, once it listens. */
async function inspectorUrl(): Promise<string> {
  const end = performance.now() + patience;
  for (;;) {
    try {
      const answer = await fetch(`http://${inspector}/json/list`);
      const [target] = (await answer.json()) as { webSocketDebuggerUrl: string }[];
      if (target !== undefined) return target.webSocketDebuggerUrl;
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await delay(20);
  }
}

/** Runtime.evaluate of the Chrome DevTools protocol. */
async function evaluate(url: string, text: string): Promise<unknown> {
  const socket = new WebSocket(url);
  try {
    return await new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error('the inspector does not answer')), patience).unref();
      socket.addEventListener('error', () => reject(new Error(`no connection to ${url}`)));
      socket.addEventListener('open', () => {
        const params = { expression: text, returnByValue: true };
        socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params }));
      });
      socket.addEventListener('message', ({ data }) => {
        const { result, exceptionDetails } = JSON.parse(String(data)).result;
        if (exceptionDetails === undefined) resolve(result.value);
        else reject(new Error(JSON.stringify(exceptionDetails)));
      });
    });
  } finally {
    socket.close();
  }
}
