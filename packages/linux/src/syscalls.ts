/**
 * The system calls that Node does not offer. This is the only file that calls foreign functions: a native addon
 * with the same exports could take its place.
 *
 * All calls are synchronous and made on the calling thread, so that errno is read before anything else runs; but for those two
 * that begin and await a program, which wait, and give their error themselves.
 */
import { endianness } from 'node:os';
import koffi from 'koffi';
import { SystemCallError } from './errno.ts';

if (endianness() !== 'LE') {
  throw new Error('@bgp-lb/linux: big-endian machines are not supported: its codecs are little-endian');
}

// The process itself exports the C library it was linked with: this works for glibc and for musl.
const libc = koffi.load(null);

type NativeFunction<A extends unknown[]> = (...args: A) => number;

/** One that is called on a thread of libuv's pool. */
interface PooledFunction<A extends unknown[]> {
  async(...args: [...A, (error: unknown, result: number) => void]): void;
}

const native: {
  socket: NativeFunction<[number, number, number]>;
  bind: NativeFunction<[number, Uint8Array, number]>;
  connect: NativeFunction<[number, Uint8Array, number]>;
  setsockopt: NativeFunction<[number, number, number, Uint8Array, number]>;
  getsockopt: NativeFunction<[number, number, number, Uint8Array, Uint8Array]>;
  send: NativeFunction<[number, Uint8Array, number, number]>;
  sendto: NativeFunction<[number, Uint8Array, number, number, Uint8Array, number]>;
  recv: NativeFunction<[number, Uint8Array, number, number]>;
  recvmmsg: NativeFunction<[number, Uint8Array, number, number, null]>;
  close: NativeFunction<[number]>;
  dup3: NativeFunction<[number, number, number]>;
  socketpair: NativeFunction<[number, number, number, Uint8Array]>;
  memfdCreate: NativeFunction<[string, number]>;
  nameToIndex: NativeFunction<[string]>;
  indexToName: (index: number, name: Uint8Array) => unknown;
  currentThread: () => number | bigint;
  setThreadPolicy: NativeFunction<[number | bigint, number, Uint8Array]>;
  setpriority: NativeFunction<[number, number, number]>;
  madvise: NativeFunction<[bigint, bigint, number]>;
  adjtimex: NativeFunction<[Uint8Array]>;
  spawn: PooledFunction<[Uint8Array, string, Uint8Array, Uint8Array, Uint8Array, Uint8Array]>;
  waitid: PooledFunction<[number, number, null, number]>;
  waitpid: NativeFunction<[number, Uint8Array, number]>;
  actionsInit: NativeFunction<[Uint8Array]>;
  actionsDup2: NativeFunction<[Uint8Array, number, number]>;
  actionsDestroy: NativeFunction<[Uint8Array]>;
  attributesInit: NativeFunction<[Uint8Array]>;
  attributesFlags: NativeFunction<[Uint8Array, number]>;
  attributesMask: NativeFunction<[Uint8Array, Uint8Array]>;
  attributesDefault: NativeFunction<[Uint8Array, Uint8Array]>;
} = {
  socket: libc.func('int socket(int domain, int type, int protocol)'),
  bind: libc.func('int bind(int fd, const void *address, uint32_t length)'),
  connect: libc.func('int connect(int fd, const void *address, uint32_t length)'),
  setsockopt: libc.func('int setsockopt(int fd, int level, int name, const void *value, uint32_t length)'),
  getsockopt: libc.func('int getsockopt(int fd, int level, int name, void *value, void *length)'),
  send: libc.func('intptr_t send(int fd, const void *bytes, size_t length, int flags)'),
  sendto: libc.func(
    'intptr_t sendto(int fd, const void *bytes, size_t length, int flags, const void *address, uint32_t size)',
  ),
  recv: libc.func('intptr_t recv(int fd, void *bytes, size_t length, int flags)'),
  recvmmsg: libc.func(
    'int recvmmsg(int fd, void *messages, unsigned int count, int flags, const void *timeout)',
  ),
  close: libc.func('int close(int fd)'),
  dup3: libc.func('int dup3(int from, int to, int flags)'),
  socketpair: libc.func('int socketpair(int domain, int type, int protocol, void *pair)'),
  memfdCreate: libc.func('int memfd_create(const char *name, unsigned int flags)'),
  nameToIndex: libc.func('unsigned int if_nametoindex(const char *name)'),
  indexToName: libc.func('void *if_indextoname(unsigned int index, void *name)'),
  currentThread: libc.func('uintptr_t pthread_self()'),
  setThreadPolicy: libc.func('int pthread_setschedparam(uintptr_t thread, int policy, const void *param)'),
  setpriority: libc.func('int setpriority(int which, unsigned int who, int value)'),
  adjtimex: libc.func('int adjtimex(void *timex)'),
  madvise: libc.func('int madvise(uintptr_t address, size_t length, int advice)'),
  spawn: libc.func(
    'int posix_spawn(void *pid, const char *path, const void *actions, const void *attributes, const void *argv, const void *environment)',
  ),
  waitid: libc.func('int waitid(int what, uint32_t id, void *information, int options)'),
  waitpid: libc.func('int waitpid(int pid, void *status, int options)'),
  actionsInit: libc.func('int posix_spawn_file_actions_init(void *actions)'),
  actionsDup2: libc.func('int posix_spawn_file_actions_adddup2(void *actions, int fd, int to)'),
  actionsDestroy: libc.func('int posix_spawn_file_actions_destroy(void *actions)'),
  attributesInit: libc.func('int posix_spawnattr_init(void *attributes)'),
  attributesFlags: libc.func('int posix_spawnattr_setflags(void *attributes, short flags)'),
  attributesMask: libc.func('int posix_spawnattr_setsigmask(void *attributes, const void *signals)'),
  attributesDefault: libc.func('int posix_spawnattr_setsigdefault(void *attributes, const void *signals)'),
};

/** Only glibc has these: musl gives memory back by itself, and has one arena. */
const trim: NativeFunction<[number]> | undefined = optional('int malloc_trim(size_t pad)');
const setMallocOption: NativeFunction<[number, number]> | undefined = optional(
  'int mallopt(int name, int value)',
);

function optional<A extends unknown[]>(declaration: string): NativeFunction<A> | undefined {
  try {
    return libc.func(declaration);
  } catch {
    return undefined;
  }
}

const EINTR = 4;
const EAGAIN = 11;

/** IF_NAMESIZE, with the closing 0. */
const interfaceNameSize = 16;

/** musl's struct sched_param is longer than glibc's, which is one int. */
const schedParamSize = 64;

/** Runs a call until a signal does not interrupt it; throws what errno says when the result is -1. */
function checked(syscall: string, call: () => number): number {
  for (;;) {
    const result = call();
    if (result !== -1) return result;
    const number = koffi.errno();
    if (number !== EINTR) throw new SystemCallError(syscall, number);
  }
}

/** socket(2). @returns the file descriptor. */
export function socket(domain: number, type: number, protocol: number): number {
  return checked('socket', () => native.socket(domain, type, protocol));
}

/** bind(2) to a `struct sockaddr_*`. */
export function bind(fd: number, address: Uint8Array): void {
  checked('bind', () => native.bind(fd, address, address.length));
}

/** connect(2) to a `struct sockaddr_*`; used for netlink, where it does not wait. */
export function connect(fd: number, address: Uint8Array): void {
  checked('connect', () => native.connect(fd, address, address.length));
}

/**
 * setsockopt(2).
 * @param label what the error calls the option, `IP_MINTTL`
 */
export function setSocketOption(
  fd: number,
  level: number,
  name: number,
  value: number | Uint8Array,
  label: string,
): void {
  let bytes: Uint8Array;
  if (typeof value === 'number') {
    bytes = new Uint8Array(4);
    // Marks use all 32 bits: >>> 0 lets both signed and unsigned numbers through.
    new DataView(bytes.buffer).setUint32(0, value >>> 0, true);
  } else {
    bytes = value;
  }
  checked(`setsockopt(${label})`, () => native.setsockopt(fd, level, name, bytes, bytes.length));
}

/** getsockopt(2) of an `int`. */
export function getSocketOption(fd: number, level: number, name: number, label: string): number {
  const value = new Uint8Array(4);
  const length = new Uint8Array([4, 0, 0, 0]);
  checked(`getsockopt(${label})`, () => native.getsockopt(fd, level, name, value, length));
  return new DataView(value.buffer).getInt32(0, true);
}

/** send(2). @returns the number of bytes taken. */
export function send(fd: number, bytes: Uint8Array, flags = 0): number {
  return checked('send', () => native.send(fd, bytes, bytes.length, flags));
}

/** sendto(2) to a `struct sockaddr_*`. @returns the number of bytes taken. */
export function sendTo(fd: number, bytes: Uint8Array, address: Uint8Array, flags = 0): number {
  return checked('sendto', () => native.sendto(fd, bytes, bytes.length, flags, address, address.length));
}

/** recv(2). @returns the number of bytes put into the buffer (with MSG_TRUNC, what the datagram had). */
export function receive(fd: number, into: Uint8Array, flags = 0): number {
  return checked('recv', () => native.recv(fd, into, into.length, flags));
}

/**
 * recvmmsg(2) without a timeout.
 * @param messages `count` times struct mmsghdr, filled in by the call
 * @returns how many datagrams there were; 0 when there was none and MSG_DONTWAIT is set
 */
export function receiveMany(fd: number, messages: Uint8Array, count: number, flags: number): number {
  return checked('recvmmsg', () => {
    const result = native.recvmmsg(fd, messages, count, flags, null);
    // Nothing waits, which is as usual as not: not worth an error with its stack.
    return result === -1 && koffi.errno() === EAGAIN ? 0 : result;
  });
}

/** close(2). Never throws: after an error the descriptor is gone in Linux as well. */
export function close(fd: number): void {
  native.close(fd);
}

/** dup3(2): makes `to` another name of what `from` names, closing what it named before. */
export function duplicateOnto(from: number, to: number, flags: number): void {
  checked('dup3', () => native.dup3(from, to, flags));
}

/** socketpair(2). */
export function socketPair(domain: number, type: number): readonly [number, number] {
  const pair = new Uint8Array(8);
  checked('socketpair', () => native.socketpair(domain, type, 0, pair));
  const view = new DataView(pair.buffer);
  return [view.getInt32(0, true), view.getInt32(4, true)];
}

/** memfd_create(2): a file that lives in memory. @param name for people who look into /proc/PID/fd */
export function createMemoryFile(name: string): number {
  const closeOnExec = 1;
  return checked('memfd_create', () => native.memfdCreate(name, closeOnExec));
}

/** if_nametoindex(3). @returns 0 when there is no such interface. */
export function interfaceIndex(name: string): number {
  return native.nameToIndex(name);
}

/** if_indextoname(3); undefined when there is no such interface. */
export function interfaceName(index: number): string | undefined {
  const name = new Uint8Array(interfaceNameSize);
  if (native.indexToName(index, name) === null) return undefined;
  return new TextDecoder().decode(name.subarray(0, name.indexOf(0)));
}

/** Where the octets of an array are in memory, for structures that point to them. It is the caller's to keep them alive. */
export function addressOf(bytes: Uint8Array): bigint {
  return koffi.address(bytes);
}

/**
 * pthread_setschedparam(3) for the calling thread: sched_setscheduler(2), which musl does not offer under its own name.
 * @param policy SCHED_*, with SCHED_RESET_ON_FORK
 * @param priority of SCHED_FIFO and SCHED_RR: 1 to 99
 */
export function setThreadPolicy(policy: number, priority: number): void {
  const parameter = new Uint8Array(schedParamSize);
  new DataView(parameter.buffer).setInt32(0, priority, true);
  const number = native.setThreadPolicy(native.currentThread(), policy, parameter);
  if (number !== 0) throw new SystemCallError('sched_setscheduler', number);
}

/** setpriority(2) of the calling thread: on Linux nice values belong to threads. @param nice -20 to 19 */
export function setThreadNice(nice: number): void {
  const process = 0;
  const caller = 0;
  checked('setpriority', () => native.setpriority(process, caller, nice));
}

/** malloc_trim(3): gives memory that was freed back to the kernel. @returns false when there was none, or without glibc */
export function trimMemory(): boolean {
  return trim?.(0) === 1;
}

/**
 * mallopt(3) with M_ARENA_MAX: threads that start from now on share so many heaps of the C library. Each of its own would
 * keep what it freed.
 */
export function limitArenas(count: number): void {
  const arenaMax = -8;
  setMallocOption?.(arenaMax, count);
}

/**
 * madvise(2) with MADV_DONTNEED: takes the pages of a range out of this process. Those of a file come back from the page
 * cache when they are touched; what was written to private ones is lost.
 */
export function dropPages(start: bigint, length: bigint): void {
  const dontNeed = 4;
  checked('madvise', () => native.madvise(start, length, dontNeed));
}

/**
 * adjtimex(2), which is asked and told nothing: whether NTP keeps the clock (its answer is not TIME_ERROR); `undefined` where this
 * process may not ask, as in some sandboxes.
 */
export function isClockSynchronized(): boolean | undefined {
  const timeError = 5;
  // `struct timex` has 208 octets on 64 bit machines; its first field, `modes`, is 0: nothing is set.
  const state = native.adjtimex(new Uint8Array(256));
  return state === -1 ? undefined : state !== timeError;
}

/** More than the structures of posix_spawn(3) have in glibc and musl. */
const spawnStructureSize = 512;
/** POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK. */
const spawnFlags = 0x0c;
/** What calls on other threads read and write: only this keeps it from being collected meanwhile. */
const inUse = new Set<object>();

/** `sigset_t`, as long as any. */
const noSignals = new Uint8Array(128);
/** Signals 1 to 31: those above are for programs to use, or the C library's own. */
const plainSignals = Uint8Array.from({ length: 128 }, (_, index) => [0xff, 0xff, 0xff, 0x7f][index] ?? 0);

/**
 * posix_spawn(3) on a thread of libuv's pool, with the signals that Node ignores as they are by default. Not fork(2), which child_process
 * uses: that copies the page tables of the whole process while everything waits, 25 ms for one of 75 MB on a small machine, and has every
 * page fault once more that is written afterwards.
 * @param descriptors what the program has as 0, 1 and 2; they stay open here
 * @returns its process id, which `awaitProgram` has to be called for
 * @throws SystemCallError
 */
export async function spawnProgram(
  path: string,
  argv: readonly string[],
  environment: readonly string[],
  descriptors: readonly [number, number, number],
): Promise<number> {
  const memory = {
    pid: new Uint8Array(4),
    actions: new Uint8Array(spawnStructureSize),
    attributes: new Uint8Array(spawnStructureSize),
    argv: stringArray(argv),
    environment: stringArray(environment),
  };
  const { pid, actions, attributes } = memory;
  native.actionsInit(actions);
  inUse.add(memory);
  try {
    for (const [to, fd] of descriptors.entries()) native.actionsDup2(actions, fd, to);
    native.attributesInit(attributes);
    native.attributesFlags(attributes, spawnFlags);
    native.attributesMask(attributes, noSignals);
    native.attributesDefault(attributes, plainSignals);
    const number = await new Promise<number>((resolve, reject) => {
      const done = (error: unknown, result: number): void =>
        isNothing(error) ? resolve(result) : reject(error);
      const { pointers: texts } = memory.argv;
      native.spawn.async(pid, path, actions, attributes, texts, memory.environment.pointers, done);
    });
    if (number !== 0) throw new SystemCallError('posix_spawn', number);
    return new DataView(pid.buffer).getInt32(0, true);
  } finally {
    inUse.delete(memory);
    native.actionsDestroy(actions);
  }
}

/**
 * Waits for a program on a thread of libuv's pool, and takes what is left of it on this one: until this resolves its process id is no
 * other's.
 * @returns the status as in wait(2)
 */
export async function awaitProgram(pid: number): Promise<number> {
  const byProcessId = 1;
  const endedAndLeft = 0x0100_0004; // WEXITED | WNOWAIT
  await new Promise<void>((resolve, reject) => {
    const done = (error: unknown): void => (isNothing(error) ? resolve() : reject(error));
    native.waitid.async(byProcessId, pid, null, endedAndLeft, done);
  });
  const status = new Uint8Array(4);
  checked('waitpid', () => native.waitpid(pid, status, 0));
  return new DataView(status.buffer).getInt32(0, true);
}

function isNothing(error: unknown): boolean {
  return error === null || error === undefined;
}

/** `char *[]` with the closing null. */
function stringArray(texts: readonly string[]): { readonly pointers: Uint8Array; readonly texts: Buffer[] } {
  const bytes = texts.map((text) => Buffer.from(`${text}\0`));
  const pointers = new BigUint64Array(bytes.length + 1);
  bytes.forEach((text, index) => {
    pointers[index] = koffi.address(text);
  });
  return { pointers: new Uint8Array(pointers.buffer), texts: bytes };
}
