import { isIPv4, isIPv6 } from 'node:net';
import { Address4, Address6 } from 'ip-address';
import { FieldError, type FieldKind, type TextField, textField } from './field.ts';
import { type AddressUse, addressFault, rangeFault } from './host-unicast.ts';
import { INTERFACE_NAME } from './text-fields.ts';

/** Which addresses a field takes. */
export interface AddressOptions {
  readonly version?: 4 | 6;
  /** What it is for; without it, any 32 or 128 bits are taken. */
  readonly use?: AddressUse;
}

/** An address and a TCP or UDP port. */
export interface HostPort {
  /** Canonical text, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** RFC 4291 section 2.5.6: fe80::/10, in canonical text. */
const linkLocal = /^fe[89ab][0-9a-f]:/;

/**
 * The canonical text of an address: dotted decimal, or RFC 5952 for IPv6. Throws `FieldError` on anything else, zones, link-local and
 * IPv4-mapped IPv6 addresses (RFC 4291 section 2.5.5.2) included: the kernel treats the latter as IPv4 on the wire.
 */
export function canonicalAddress(text: string, version?: 4 | 6): string {
  if (text.includes('%')) throw new FieldError('has a zone');
  if (text.includes('/')) throw new FieldError('is a prefix, not one address');
  if (isIPv4(text)) {
    if (version === 6) throw new FieldError('is an IPv4 address');
    return text;
  }
  if (!isIPv6(text)) throw new FieldError('is not an IP address');
  if (version === 4) throw new FieldError('is an IPv6 address');
  const address = new Address6(text);
  const canonical = address.correctForm();
  if (/^::ffff:[0-9a-f]{1,4}:[0-9a-f]{1,4}$/.test(canonical)) {
    throw new FieldError(`is an IPv4-mapped address (${address.to4().correctForm()}?)`);
  }
  if (linkLocal.test(canonical)) {
    throw new FieldError('is a link-local address, which means nothing without its link: take a global one');
  }
  return canonical;
}

/**
 * The canonical text of the address of a neighbor: as `canonicalAddress`, and besides a link-local one with the interface that it
 * is on, `fe80::1%eth0` (RFC 4007 section 11). The interface need not be there yet.
 */
function canonicalNeighborAddress(text: string): string {
  const percent = text.indexOf('%');
  const address = percent === -1 ? text : text.slice(0, percent);
  const isLinkLocal = isIPv6(address) && linkLocal.test(new Address6(address).correctForm());
  if (!isLinkLocal) {
    if (percent === -1) return usable(canonicalAddress(text), 'host');
    throw new FieldError('has a zone, and is not link-local', `${canonicalAddress(address)}, without a zone`);
  }
  const canonical = new Address6(address).correctForm();
  if (percent === -1) {
    throw new FieldError(
      'is a link-local address, which means nothing without its link',
      `the address and its interface, like ${canonical}%eth0`,
    );
  }
  const zone = text.slice(percent + 1);
  // The number of an interface is another one after the next boot.
  if (!INTERFACE_NAME.test(zone) || /^[0-9]+$/.test(zone)) {
    throw new FieldError(
      'has a zone that is not the name of an interface',
      `the address and its interface, like ${canonical}%eth0`,
    );
  }
  return `${canonical}%${zone}`;
}

/** @throws FieldError for an address that cannot be what it is to be */
function usable(address: string, use: AddressUse | undefined): string {
  const fault = use === undefined ? undefined : addressFault(address, use);
  if (fault !== undefined) throw new FieldError(fault);
  return address;
}

const USE_TEXT: Readonly<Record<AddressUse, string>> = { host: 'unicast ', listener: '' };

function familyText(version: 4 | 6 | undefined, what: string): string {
  return version === undefined ? `an IPv4 or IPv6 ${what}` : `an IPv${version} ${what}`;
}

/** An IPv4 or IPv6 address; canonical text in the program. */
export function ipAddress(options: AddressOptions = {}): TextField<string> {
  const { version, use } = options;
  const what = `${use === undefined ? '' : USE_TEXT[use]}address`;
  const kind: FieldKind = {
    type: version === undefined ? 'IP address' : `IPv${version} address`,
    allowed: `${familyText(version, what)}, like ${version === 6 ? '2001:db8::1' : '10.0.0.1'}`,
    jsonSchema:
      version === undefined
        ? { type: 'string', anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] }
        : { type: 'string', format: version === 4 ? 'ipv4' : 'ipv6' },
  };
  return textField(kind, (text) => usable(canonicalAddress(text, version), use));
}

/** The address of a BGP neighbor: a unicast IPv4 or IPv6 address of a host, or a link-local one with its interface; canonical text in the program. */
export function neighborAddress(): TextField<string> {
  const kind: FieldKind = {
    type: 'neighbor address',
    allowed:
      'an IPv4 or IPv6 unicast address, like 10.0.0.1, or a link-local one with its interface, like fe80::1%eth0',
    jsonSchema: {
      type: 'string',
      anyOf: [
        { format: 'ipv4' },
        { format: 'ipv6' },
        { pattern: '^[fF][eE][89abAB][0-9a-fA-F]:[0-9a-fA-F:]+%[!-$&-.0-9;-~]{1,15}$' },
      ],
    },
  };
  return textField(kind, canonicalNeighborAddress);
}

/**
 * A prefix of addresses that hosts may have, with all host bits zero; canonical text in the program. The error names the prefix that
 * was probably meant.
 */
export function hostPrefix(): TextField<string> {
  const kind: FieldKind = {
    type: 'IP prefix',
    allowed: 'an IPv4 or IPv6 prefix of unicast addresses, like 10.0.0.0/24',
    jsonSchema: { type: 'string', pattern: '^[0-9a-fA-F.:]+/[0-9]{1,3}$', examples: ['10.0.0.0/24'] },
  };
  return textField(kind, (text) => {
    const range = canonicalPrefix(text);
    const fault = rangeFault(range);
    if (fault !== undefined) throw new FieldError(fault);
    return range;
  });
}

function canonicalPrefix(text: string): string {
  const match = /^([^/]*)\/(\d{1,3})$/.exec(text);
  if (match?.[1] === undefined || match[2] === undefined) {
    const isAddress = isIPv4(text) || isIPv6(text);
    throw new FieldError(
      isAddress ? `has no length (${text}/${isIPv4(text) ? 32 : 128}?)` : 'is not a prefix',
    );
  }
  const address = canonicalAddress(match[1]);
  const length = Number(match[2]);
  const widest = isIPv4(address) ? 32 : 128;
  if (length > widest) throw new FieldError(`is longer than ${widest} bits`);
  const network = isIPv4(address)
    ? new Address4(`${address}/${length}`).startAddress().correctForm()
    : new Address6(`${address}/${length}`).startAddress().correctForm();
  if (network !== address) {
    throw new FieldError(
      'has host bits set',
      `${network}/${length}, or ${address}/${widest} for the one address`,
    );
  }
  return `${address}/${length}`;
}

/** An address literal and a port: `127.0.0.1:9474`, `[::1]:9474`. Names are refused: a listener must not depend on DNS. */
export function hostPort(): TextField<HostPort> {
  const kind: FieldKind = {
    type: 'address and port',
    allowed: "an IP address and a port, like '127.0.0.1:9474' or '[::1]:9474'",
    format: (value: unknown) => (isHostPort(value) ? formatHostPort(value) : value),
    jsonSchema: { type: 'string', pattern: '^(\\[[0-9a-fA-F.:]+\\]|[0-9.]+):[0-9]{1,5}$' },
  };
  return textField(
    kind,
    (text) => {
      if (isIPv6(text)) throw new FieldError('has no brackets around the IPv6 address');
      const match = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(text);
      if (match === null) throw new FieldError(isIPv4(text) ? 'has no port' : 'is not an address and a port');
      const host = match[1] ?? match[2] ?? '';
      if (host === 'localhost') throw new FieldError('is a name, not an address (127.0.0.1? [::1]?)');
      const port = Number(match[3]);
      if (port < 1 || port > 65535) throw new FieldError('the port is not within 1 to 65535');
      return { host: usable(canonicalAddress(host, match[1] === undefined ? 4 : 6), 'listener'), port };
    },
    (input) => (typeof input === 'number' ? `has no address (127.0.0.1:${input}?)` : undefined),
  );
}

function isHostPort(value: unknown): value is HostPort {
  return typeof value === 'object' && value !== null && 'host' in value && 'port' in value;
}

/** `127.0.0.1:9474` or `[::1]:9474`. */
export function formatHostPort(value: HostPort): string {
  return isIPv6(value.host) ? `[${value.host}]:${value.port}` : `${value.host}:${value.port}`;
}
