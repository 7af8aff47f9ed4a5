import { describe, expect, it } from 'vitest';
import { BfdHost, BfdWire, listenOn } from './kit/bfd-wire.ts';

function host(): { wire: BfdWire; host: BfdHost } {
  const wire = new BfdWire();
  const made = new BfdHost(wire, '10.0.0.1');
  made.add('10.0.0.2');
  return { wire, host: made };
}

describe('a BFD packet', () => {
  it('without Your Discriminator goes to the session with its source address', () => {
    const { host: one } = host();
    one.add('10.0.0.3');
    one.hears('10.0.0.3', { state: 'Down' });
    expect(one.session('10.0.0.3').state).toBe('Init');
    expect(one.session('10.0.0.2').state).toBe('Down');
  });

  it('with Your Discriminator goes to that session, whatever its source address', () => {
    const { host: one } = host();
    one.hears('10.0.0.77', { state: 'Down', yourDiscriminator: one.session('10.0.0.2').localDiscriminator });
    expect(one.session('10.0.0.2').state).toBe('Init');
  });

  it('from an IPv6 neighbor is known in every spelling of its address, and on its own link only', () => {
    const one = new BfdHost(new BfdWire(), 'fe80::1%eth0');
    one.add('FE80:0:0::2%eth0');
    one.hears('fe80::2%eth1', { state: 'Down' });
    expect(one.session('FE80:0:0::2%eth0').state).toBe('Down');
    one.hears('fe80::2%eth0', { state: 'Down' });
    expect(one.session('FE80:0:0::2%eth0').state).toBe('Init');
  });

  it.each([
    { what: 'an unknown source', from: '10.0.0.9', fields: {} },
    { what: 'an unknown discriminator', from: '10.0.0.2', fields: { yourDiscriminator: 0xdead } },
  ])('of $what is counted and has no effect', ({ from, fields }) => {
    const { host: one } = host();
    one.hears(from, { state: 'Down', ...fields });
    expect(one.engine.status().receive.discarded).toMatchObject({ 'no-session': 1 });
    expect(one.session('10.0.0.2').counters.received).toBe(0);
  });

  it('that came by the multihop port, where no TTL is checked, cannot speak to a single hop session', () => {
    const { host: one } = host();
    one.add('10.0.9.9', { multihop: true });
    const { localDiscriminator } = one.session('10.0.0.2');
    one.hears('10.0.0.2', { state: 'Down', yourDiscriminator: localDiscriminator }, 4784);
    one.hears('10.0.0.2', { state: 'Down' }, 4784);
    expect(one.session('10.0.0.2').state).toBe('Down');
    one.hears('10.0.9.9', { state: 'Down' }, 4784);
    expect(one.session('10.0.9.9').state).toBe('Init');
  });

  it('that is broken is counted by its fault', () => {
    const { host: one } = host();
    one.hears('10.0.0.2', new Uint8Array(0));
    one.hears('10.0.0.2', new Uint8Array(24));
    one.hears('10.0.0.2', { state: 'Up' });
    const broken = { length: 1, version: 1, 'your-discriminator': 1 };
    expect(one.engine.status().receive.discarded).toMatchObject(broken);
  });
});

describe('a new BFD session', () => {
  it('draws its discriminator until nobody has it', () => {
    const drawn = [7, 7, 7, 8];
    const one = new BfdHost(new BfdWire(), '10.0.0.1', { discriminator: () => drawn.shift() ?? 9 });
    one.add('10.0.0.2');
    one.add('10.0.0.3');
    expect(one.session('10.0.0.3').localDiscriminator).toBe(8);
  });

  it.each([
    [{ id: '10.0.0.2', remoteAddress: '10.0.0.7' }, 'BFD session 10.0.0.2: exists already'],
    [{ id: 'again', remoteAddress: '10.0.0.2' }, '10.0.0.2 has the session 10.0.0.2'],
    [{ id: 'name', remoteAddress: 'lb.example' }, 'IP address "lb.example"'],
    [{ id: 'zero', remoteAddress: '10.0.0.7', receiveInterval: 0 }, 'Required Min RX'],
    [{ id: 'many', remoteAddress: '10.0.0.7', detectMultiplier: 256 }, 'Detect Mult'],
  ])('is refused by name and value: %j', ({ remoteAddress, ...options }, message) => {
    const { host: one } = host();
    expect(() => one.add(remoteAddress, options)).toThrow(message);
    expect(one.engine.status().sessions).toHaveLength(1);
  });

  it('is told of when it is not there', () => {
    const { host: one } = host();
    expect(() => one.engine.setAdminDown('absent', true)).toThrow('BFD session absent: does not exist');
    one.engine.remove('absent');
  });

  it('waits for a port that another daemon has, and says so', async () => {
    let isTaken = true;
    const wire = new BfdWire();
    const refuse = (call: string) => (call === 'receive' && isTaken ? new Error('EADDRINUSE') : undefined);
    const one = new BfdHost(wire, '10.0.0.1', { refuse });
    one.add('10.0.0.2');
    await wire.clock.advance(2500);
    expect(one.engine.status().receive.missing).toEqual(['IPv4 port 3784: EADDRINUSE']);
    isTaken = false;
    await wire.clock.advance(1000);
    expect(one.engine.status().receive.missing).toEqual([]);
    expect(wire.receiversOf('10.0.0.1')).toBe(1);
  });

  it('waits for a source address that is not there yet, and says so', async () => {
    let isAbsent = true;
    const wire = new BfdWire();
    const heard = listenOn(wire, '10.0.0.2');
    const refuse = (call: string) => (call === 'open' && isAbsent ? new Error('EADDRNOTAVAIL') : undefined);
    const one = new BfdHost(wire, '10.0.0.1', { refuse });
    one.add('10.0.0.2');
    await wire.clock.advance(2000);
    expect(one.session('10.0.0.2')).toMatchObject({ sendError: 'EADDRNOTAVAIL' });
    expect(one.session('10.0.0.2').counters.sendErrors).toBeGreaterThan(1);
    isAbsent = false;
    await wire.clock.advance(1000);
    expect(heard.length).toBeGreaterThan(0);
    expect(one.session('10.0.0.2').sendError).toBeUndefined();
  });
});
