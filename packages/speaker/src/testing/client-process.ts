/**
 * A client that connects and then only waits, as a watch does. Tells `{connected}` and `{end}`: the error's code, or `FIN`.
 * Arguments: address and port, and our own address. A line of input ends the connection.
 */
import { connect } from 'node:net';

const [host = '', port = '', localAddress = ''] = process.argv.slice(2);

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

const socket = connect({ host, port: Number(port), localAddress }, () => say({ connected: true }));
socket.on('error', ({ code, message }: NodeJS.ErrnoException) => say({ end: code ?? message }));
socket.on('end', () => say({ end: 'FIN' }));
socket.resume();
process.stdin.once('data', () => socket.destroy());
