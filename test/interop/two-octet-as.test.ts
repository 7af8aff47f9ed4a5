import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localAsn } from '../../scripts/lab/addresses.ts';
import { Frr, hasFrr } from '../../scripts/lab/frr.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { NamespaceProcess } from '../kit/namespace-process.ts';
import type { MatrixEnd, MatrixState } from './matrix-end.ts';

const fourOctetAsn = 4_200_000_001;
/** RFC 6793 section 3. */
const asTrans = 23_456;
const ours = '10.202.0.1/32';
const eventually = { timeout: 15_000, interval: 50 };

/** A route as FRR's `show bgp ipv4 unicast PREFIX json` has it. */
interface FrrRoute {
  readonly paths?: readonly { readonly aspath: { readonly string: string } }[];
}

/** FRR without any capability is a speaker of two octets for an AS number (RFC 6793 section 4.2), and of IPv4 alone. */
describe.skipIf(!hasFrr())('FRR without capabilities, and our four-octet AS number', () => {
  let lab: Lab;
  let frr: Frr;
  let end: NamespaceProcess<MatrixEnd> | undefined;

  beforeAll(async () => {
    lab = await Lab.create({ masters: 1, controlPlane: 'stand-in' });
    const [lb, master] = [lab.lb, lab.master(1)];
    frr = new Frr(lb);
    await frr.start([
      `router bgp ${localAsn}`,
      ` bgp router-id ${lb.address}`,
      ' no bgp ebgp-requires-policy',
      ' no bgp network import-check',
      ` neighbor ${master.address} remote-as ${fourOctetAsn}`,
      ` neighbor ${master.address} passive`,
      ` neighbor ${master.address} dont-capability-negotiate`,
      ` no neighbor ${master.address} enforce-first-as`,
      ' address-family ipv4 unicast',
      '  network 10.201.0.0/24',
    ]);
    end = await NamespaceProcess.start<MatrixEnd>(
      ['ip', 'netns', 'exec', master.namespace],
      new URL('./matrix-end.ts', import.meta.url),
    );
    await end.run((e, settings) => e.open(settings), {
      asn: fourOctetAsn,
      local: { ipv4: master.address, ipv6: 'fd00::1' },
      vips: { ipv4: ours, ipv6: 'fd00:202::1/128' },
      peers: [
        { address: lb.address, asn: localAsn, isPassive: false, password: undefined, hasTtlSecurity: false },
      ],
    });
  });
  afterAll(async () => {
    await end?.stop();
    await lab?.destroy();
  });

  const heard = (): Promise<MatrixState> | undefined => end?.run((e, at) => e.stateOf(at), lab.lb.address);

  it('have a session, and its AS number of two octets is read as such', async () => {
    await expect.poll(heard, eventually).toMatchObject({
      state: 'Established',
      paths: expect.arrayContaining([`10.201.0.0/24 via ${lab.lb.address} path ${localAsn}`]),
    });
  });

  const asPaths = async (): Promise<string[]> =>
    ((await frr.show<FrrRoute>(`show bgp ipv4 unicast ${ours} json`)).paths ?? []).map(
      ({ aspath }) => aspath.string,
    );

  it('has our path by AS_TRANS: it reads AS4_PATH of nobody who could have spoken four octets', async () => {
    await expect.poll(asPaths, eventually).toEqual([String(asTrans)]);
  });

  // RFC 6793 section 4.2.2 has AS_TRANS in AS_PATH here. The check is off in FRR 8.4 and on in FRR 10.3 by default.
  it('has none where it wants to see the AS number of the neighbor first, for it compares that with AS_TRANS', async () => {
    const { address } = lab.master(1);
    await frr.configure(
      `router bgp ${localAsn}`,
      `neighbor ${address} enforce-first-as`,
      `do clear bgp ${address}`,
    );
    await expect.poll(() => frr.tail(), eventually).toContain(`incorrect first AS (must be ${fourOctetAsn})`);
    expect(frr.tail()).toContain('Withdrawing route');
    expect(await asPaths()).toEqual([]);
    // The first one, and that after `clear`: RFC 7606 section 7.2 softens the fault, and the session goes on.
    expect(await frr.neighbor(address)).toMatchObject({ bgpState: 'Established', connectionsEstablished: 2 });
  });
});
