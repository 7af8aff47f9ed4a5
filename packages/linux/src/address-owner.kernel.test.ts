import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NamespaceProcess } from '../../../test/kit/namespace-process.ts';
import { cable, NetworkNamespace } from '../../../test/kit/network-namespace.ts';
import type { Subject } from './testing/subject.ts';

let asking: NetworkNamespace;
let owner: NetworkNamespace;
let subject: NamespaceProcess<Subject>;
let ownerMac: string;

beforeAll(async () => {
  asking = NetworkNamespace.create('ask');
  owner = NetworkNamespace.create('own');
  cable(
    { namespace: asking, device: 'e0', addresses: ['10.7.0.1/24', 'fd00:7::1/64'] },
    { namespace: owner, device: 'e0', addresses: ['10.7.0.2/24', '10.99.0.9/32', 'fd00:7::2/64'] },
  );
  ownerMac = /link\/ether (\S+)/.exec(owner.ip('link', 'show', 'dev', 'e0'))?.[1] ?? '';
  subject = await asking.start<Subject>(new URL('./testing/subject.ts', import.meta.url));
});

afterAll(async () => {
  await Promise.all([asking.remove(), owner.remove()]);
});

function owners(address: string): Promise<readonly string[]> {
  return subject.run(({ linux }, target) => {
    const routes = new linux.RouteSocket();
    const link = routes.links().find(({ name }) => name === 'e0');
    routes.close();
    return linux.addressOwners({ index: link?.index ?? 0, address: link?.address ?? '' }, target, 700);
  }, address);
}

describe('who has an address on a link', () => {
  it.each(['10.7.0.2', '10.99.0.9', 'fd00:7::2'])('is told for %s', async (address) => {
    expect(await owners(address)).toEqual([ownerMac]);
  });

  it.each(['10.7.0.3', '10.99.0.8', 'fd00:7::3'])('is nobody for %s, which nobody has', async (address) => {
    expect(await owners(address)).toEqual([]);
  });

  it('is not this host itself', async () => {
    expect(await owners('10.7.0.1')).toEqual([]);
  });
});
