/** A network namespace with a process in it for the tests of one file or describe block. */
import { afterAll, beforeAll } from 'vitest';
import type { NamespaceProcess } from '../../../../test/kit/namespace-process.ts';
import { NetworkNamespace } from '../../../../test/kit/network-namespace.ts';
import type { Subject } from './subject.ts';

/** Filled before the first test runs. */
export interface TestNamespace {
  readonly namespace: NetworkNamespace;
  /** Imported testing/subject.ts. */
  readonly inside: NamespaceProcess<Subject>;
}

/** Makes the namespace before the tests and removes it after them. */
export function useNamespace(label: string, prepare?: (namespace: NetworkNamespace) => void): TestNamespace {
  let made: TestNamespace | undefined;

  beforeAll(async () => {
    const namespace = NetworkNamespace.create(label);
    made = {
      namespace,
      get inside(): never {
        throw new Error('the process in the namespace has not been started');
      },
    };
    prepare?.(namespace);
    made = { namespace, inside: await namespace.start<Subject>(new URL('./subject.ts', import.meta.url)) };
  });

  afterAll(async () => {
    await made?.namespace.remove();
  });

  const need = (): TestNamespace => {
    if (made === undefined) throw new Error('used outside a test');
    return made;
  };
  return {
    get namespace() {
      return need().namespace;
    },
    get inside() {
      return need().inside;
    },
  };
}

/** Adds a veth pair whose both ends are in the namespace and up: `v0`, with addresses, and `v1`. */
export function addVeth(namespace: NetworkNamespace, ...addresses: readonly string[]): void {
  namespace.ip('link', 'add', 'v0', 'type', 'veth', 'peer', 'name', 'v1');
  for (const address of addresses) {
    namespace.ip('address', 'add', address, 'dev', 'v0', ...(address.includes(':') ? ['nodad'] : []));
  }
  namespace.ip('link', 'set', 'v0', 'up');
  namespace.ip('link', 'set', 'v1', 'up');
}
