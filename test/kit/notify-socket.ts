/** A service manager's end of sd_notify(3). Node has no datagram sockets of AF_UNIX; perl is part of every Debian. */
import { createInterface } from 'node:readline';
import type { Host } from '../../scripts/lab/host.ts';
import type { HostProcess } from '../../scripts/lab/host-process.ts';

const program = `
use strict; use warnings; use Socket;
$| = 1;
socket(my $socket, PF_UNIX, SOCK_DGRAM, 0) or die $!;
bind($socket, pack_sockaddr_un($ARGV[0])) or die $!;
print "listening\\n";
while (defined recv($socket, my $state, 4096, 0)) { $state =~ s/\\n/ /g; print "$state\\n"; }`;

/** What a daemon tells its service manager. */
export class NotifySocket {
  /** Each notification, its lines joined by spaces, oldest first. */
  readonly told: string[] = [];
  readonly path: string;
  readonly #process: HostProcess;

  private constructor(path: string, process: HostProcess) {
    this.path = path;
    this.#process = process;
  }

  /** Listens at run/notify of a host until `close`. */
  static async open(host: Host): Promise<NotifySocket> {
    const path = host.path('run/notify');
    const process = host.spawn('notify-socket', ['perl', '-e', program, path], { hasPipes: true });
    const socket = new NotifySocket(path, process);
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: process.pipes.output }).on('line', (line) => {
        if (line === 'listening') resolve();
        else socket.told.push(line);
      });
      void process.exited.then(() => reject(new Error(`nobody listens at ${path}: ${process.tail()}`)));
    });
    return socket;
  }

  async close(): Promise<void> {
    await this.#process.kill();
  }
}
