/**
 * Program `guardian.ts ID`: outlives the lab's owner and removes the lab when the owner dies, by whatever signal.
 * The owner holds the other end of standard input. A byte means that the owner has done it itself or keeps the lab;
 * the end of input without one means that the owner is gone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { removeLab } from './lab-record.ts';

const id = process.argv[2];
if (id === undefined) throw new RangeError('guardian.ts needs the id of a lab');

// The owner's terminal may be gone too, and its Ctrl-C is not meant for the guardian.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

process.stdin.once('data', () => process.exit(0));
process.stdin.once('end', () => {
  remove(id).then(
    () => process.exit(0),
    () => process.exit(1), // the record stays: the next lab tries again
  );
});

/** Programs that the owner had just started, such as `ip netns add`, outlive it: they end first. */
async function remove(lab: string): Promise<void> {
  await sleep(200);
  await removeLab(lab);
}
