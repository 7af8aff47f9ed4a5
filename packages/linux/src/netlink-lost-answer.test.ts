import { constants } from 'node:os';
import { beforeEach, describe, expect, it } from 'vitest';
import { SystemCallError } from './errno.ts';
import { isUnanswered, NetlinkError } from './netlink-error.ts';
import { ControlType, MessageFlag, MessageWriter } from './netlink-message.ts';
import { NetlinkSocket } from './netlink-socket.ts';
import type { NetlinkTransport } from './netlink-transport.ts';

const { EAGAIN, ENOBUFS, EMFILE } = constants.errno;
const someRequest = 26;
const someNotification = 24;

/** What a queue of the kernel holds: a datagram, or the number of an error that recv(2) gives. */
type Queued = Uint8Array | number;

/** A kernel that a test fills the queue of. Each read takes 100 ms. */
class StagedKernel {
  now = 0;
  opened = 0;
  closed = 0;
  reads = 0;
  openError: number | undefined;
  /** What is queued when a request with this number comes. */
  reply: (sequence: number, datagram: Uint8Array) => readonly Queued[] = (sequence) => [
    acknowledgement(sequence),
  ];
  /** What is read from an empty queue. */
  whenEmpty: () => Queued = () => EAGAIN;

  readonly open = (): NetlinkTransport => {
    if (this.openError !== undefined) throw new SystemCallError('socket', this.openError);
    this.opened += 1;
    const queue: Queued[] = [];
    return {
      send: (datagram) => {
        const sequence = new DataView(datagram.buffer, datagram.byteOffset).getUint32(8, true);
        queue.push(...this.reply(sequence, datagram));
      },
      receive: (into) => {
        this.reads += 1;
        this.now += 100;
        const next = queue.shift() ?? this.whenEmpty();
        if (typeof next === 'number') throw new SystemCallError('recv', next);
        into.set(next);
        return next.length;
      },
      close: () => {
        this.closed += 1;
      },
    };
  };
}

function message(type: number, sequence: number, payload: Uint8Array, flags = 0): Uint8Array {
  return new MessageWriter(type, flags).structure(payload).finish(sequence);
}

function acknowledgement(sequence: number): Uint8Array {
  return message(ControlType.Error, sequence, new Uint8Array(20), MessageFlag.Capped);
}

function notification(): Uint8Array {
  return message(someNotification, 0, new Uint8Array(12));
}

let kernel: StagedKernel;
let socket: NetlinkSocket;

beforeEach(() => {
  kernel = new StagedKernel();
  socket = new NetlinkSocket(0, { open: kernel.open, now: () => kernel.now });
});

function ask(): unknown {
  try {
    socket.acknowledged('set it', new MessageWriter(someRequest, MessageFlag.Request | MessageFlag.Ack));
    return 'acknowledged';
  } catch (error) {
    return error;
  }
}

/** What a request ends with, checked to be no answer. */
function unanswered(): string {
  const error = ask();
  expect(isUnanswered(error)).toBe(true);
  return error instanceof NetlinkError ? `${error.request}: ${error.errno}` : String(error);
}

describe('a request whose answer is lost', () => {
  it('ends when the kernel says that it dropped something', () => {
    kernel.reply = () => [ENOBUFS];
    expect(unanswered()).toBe('set it: ENOBUFS');
  });

  it('ends when nothing comes', () => {
    kernel.reply = () => [];
    expect(unanswered()).toBe('set it: ETIMEDOUT');
    expect(kernel.reads).toBe(1);
  });

  it('ends although notifications come without end', () => {
    kernel.reply = () => [];
    kernel.whenEmpty = notification;
    expect(unanswered()).toBe('set it: ETIMEDOUT');
    expect(kernel.now).toBe(500);
  });

  it('ends although acknowledgements of others come without end', () => {
    kernel.reply = () => [];
    kernel.whenEmpty = () => acknowledgement(77);
    expect(unanswered()).toBe('set it: ETIMEDOUT');
    expect(kernel.now).toBe(500);
  });

  it('is not answered by an acknowledgement that is too short to have a number', () => {
    kernel.reply = (sequence) => [message(ControlType.Error, sequence, new Uint8Array(0))];
    expect(unanswered()).toContain('without an error number');
  });

  it('costs its socket: the next request has a new one, and late answers meet nobody', () => {
    kernel.reply = () => [ENOBUFS];
    ask();
    expect([kernel.opened, kernel.closed]).toEqual([1, 1]);
    let asked = 0;
    // The acknowledgement of the request before comes first.
    kernel.reply = (sequence) => {
      asked = sequence;
      return [acknowledgement(sequence - 1), notification(), acknowledgement(sequence)];
    };
    const readsBefore = kernel.reads;
    expect(ask()).toBe('acknowledged');
    expect(kernel.reads - readsBefore).toBe(3);
    expect(asked).toBe(2);
    expect([kernel.opened, kernel.closed]).toEqual([2, 1]);
  });

  it('says so too when there is no new socket, and gets one when there is', () => {
    kernel.reply = () => [];
    ask();
    kernel.openError = EMFILE;
    expect(unanswered()).toBe('set it: EMFILE');
    kernel.openError = undefined;
    kernel.reply = (sequence) => [acknowledgement(sequence)];
    expect(ask()).toBe('acknowledged');
  });

  it('is one of several in a datagram: all of them are in doubt', () => {
    kernel.reply = (first) => [acknowledgement(first)];
    const request = (): MessageWriter =>
      new MessageWriter(someRequest, MessageFlag.Request | MessageFlag.Ack);
    let thrown: unknown;
    try {
      socket.allAcknowledged('set both', [request(), request()]);
    } catch (error) {
      thrown = error;
    }
    expect(isUnanswered(thrown)).toBe(true);
    expect(kernel.closed).toBe(1);
  });
});

describe('requests that are sent together', () => {
  const names = ['one', 'two', 'three'];
  const writer = (): MessageWriter => new MessageWriter(someRequest, MessageFlag.Request | MessageFlag.Ack);
  const together = (count = names.length): (string | undefined)[] =>
    socket
      .eachAcknowledged(
        Array.from({ length: count }, (_, n) => ({ name: names[n] ?? `${n}`, writer: writer() })),
      )
      .map((refusal) => refusal?.message);

  it('have each its own answer, in whatever order these come', () => {
    const refusal = new Uint8Array(20);
    new DataView(refusal.buffer).setInt32(0, -1, true);
    kernel.reply = (first) => [
      notification(),
      acknowledgement(first + 2),
      acknowledgement(first - 1),
      message(ControlType.Error, first + 1, refusal, MessageFlag.Capped),
      acknowledgement(first),
    ];
    expect(together()).toEqual([undefined, expect.stringMatching(/^two: EPERM/), undefined]);
    expect(kernel.closed).toBe(0);
  });

  it('are all in doubt when one answer is lost, which costs the socket', () => {
    kernel.reply = (first) => [acknowledgement(first), acknowledgement(first + 2)];
    let thrown: unknown;
    try {
      together();
    } catch (error) {
      thrown = error;
    }
    expect(isUnanswered(thrown)).toBe(true);
    expect(thrown).toMatchObject({ message: expect.stringMatching(/^one and 2 more: ETIMEDOUT/) });
    expect(kernel.closed).toBe(1);
  });

  it('are no more in one datagram than the queue has room for answers', () => {
    const sizes: number[] = [];
    kernel.reply = (first, datagram) => {
      const count = datagram.length / 16;
      sizes.push(count);
      return Array.from({ length: count }, (_, n) => acknowledgement(first + n));
    };
    expect(together(70)).toEqual(Array.from({ length: 70 }));
    expect(sizes).toEqual([32, 32, 6]);
    expect(together(0)).toEqual([]);
  });
});

describe('a dump', () => {
  const dump = (): number[] =>
    socket.dump('dump all', new MessageWriter(someRequest, MessageFlag.Request), ({ type }) => type);
  const done = (sequence: number): Uint8Array => message(ControlType.Done, sequence, new Uint8Array(4));

  it('may take longer than one answer as long as it goes on', () => {
    const parts = 20;
    kernel.reply = (sequence) => [
      ...Array.from({ length: parts }, () => message(someNotification, sequence, new Uint8Array(12))),
      done(sequence),
    ];
    expect(dump()).toHaveLength(parts);
    expect(kernel.now).toBe(2100);
  });

  it('that loses a part is not taken for the whole', () => {
    kernel.reply = (sequence) => [
      message(someNotification, sequence, new Uint8Array(12)),
      ENOBUFS,
      done(sequence),
    ];
    expect(dump).toThrow('dump all: ENOBUFS');
    expect(kernel.closed).toBe(1);
  });
});

it('a refusal is an answer, and keeps the socket', () => {
  const refusal = new Uint8Array(20);
  new DataView(refusal.buffer).setInt32(0, -1, true);
  kernel.reply = (sequence) => [message(ControlType.Error, sequence, refusal, MessageFlag.Capped)];
  const error = ask();
  expect(error).toMatchObject({ errno: 'EPERM', isAnswer: true });
  expect(isUnanswered(error)).toBe(false);
  expect(kernel.closed).toBe(0);
});
