/** Addresses of interfaces: RTM_*ADDR (rtnetlink(7), include/uapi/linux/if_addr.h). */
import { addressBytes, familyOf, ipVersion, versionOfFamily } from './internet-address.ts';
import { MessageFlag, MessageWriter, PayloadReader } from './netlink-message.ts';
import { type Scope, scopeName, scopeNumber } from './scope.ts';

/** RTM_*ADDR. */
export const AddressMessage = { New: 20, Delete: 21, Get: 22 } as const;

const structureLength = 8;
const Attribute = { Address: 1, Local: 2, Label: 3, CacheInfo: 6, Flags: 8, Protocol: 11 } as const;
const forever = 0xffff_ffff;

/** IFA_F_*: what the kernel says about an address. */
export const AddressFlag = {
  NoDad: 0x02,
  DadFailed: 0x08,
  Deprecated: 0x20,
  Tentative: 0x40,
  Permanent: 0x80,
  NoPrefixRoute: 0x200,
} as const;

/** An address on an interface. */
export interface InterfaceAddress {
  /** The interface's index. */
  readonly index: number;
  readonly address: string;
  readonly prefixLength: number;
  readonly label?: string;
  readonly scope: Scope;
  /** Seconds until the kernel removes the address by itself; undefined means forever. */
  readonly validLifetime: number | undefined;
  /** Seconds until the address is no longer chosen as a source; 0 means never chosen, undefined forever. */
  readonly preferredLifetime: number | undefined;
  /** IFA_PROTO, who installed it (kernel 5.18 and later; else undefined). */
  readonly protocol?: number;
  /** See AddressFlag. */
  readonly flags: number;
}

/**
 * An address to add, or to change when the interface has it. All of it is set again: a protocol that is left out is
 * taken away. An IPv6 address is there once per interface, and keeps the prefix length it was added with.
 */
export interface AddressSetting {
  readonly index: number;
  readonly address: string;
  readonly prefixLength: number;
  /** Seconds, at least 1; undefined means forever. */
  readonly validLifetime?: number;
  /** Seconds, at most the valid lifetime; 0 means never chosen as a source. Default: the valid lifetime. */
  readonly preferredLifetime?: number;
  /** IPv6: usable at once, without duplicate address detection (RFC 4862 section 5.4). */
  readonly noDad?: boolean;
  /** No route for the prefix is made. */
  readonly noPrefixRoute?: boolean;
  /** IFA_PROTO, 1 to 255; kernels before 5.18 ignore it. 1 to 3 are the kernel's own. */
  readonly protocol?: number;
  /** Default: host scope for loopback addresses, else global. */
  readonly scope?: Scope;
}

/** What names an address on an interface. */
export type AddressKey = Pick<InterfaceAddress, 'index' | 'address' | 'prefixLength'>;

interface Structure {
  readonly family: number;
  readonly prefixLength: number;
  readonly scope: number;
  readonly index: number;
}

function structure({ family, prefixLength, scope, index }: Structure): Uint8Array {
  const bytes = new Uint8Array(structureLength);
  bytes[0] = family;
  bytes[1] = prefixLength;
  bytes[3] = scope;
  new DataView(bytes.buffer).setUint32(4, index, true);
  return bytes;
}

function keyed(type: number, flags: number, key: AddressKey, scope: Scope): MessageWriter {
  const version = ipVersion(key.address);
  const longest = version === 4 ? 32 : 128;
  if (!Number.isInteger(key.prefixLength) || key.prefixLength < 0 || key.prefixLength > longest) {
    throw new RangeError(`prefix length of ${key.address}: ${key.prefixLength}; allowed are 0 to ${longest}`);
  }
  const bytes = addressBytes(key.address);
  return new MessageWriter(type, MessageFlag.Request | MessageFlag.Ack | flags)
    .structure(
      structure({
        family: familyOf(version),
        prefixLength: key.prefixLength,
        scope: scopeNumber(scope),
        index: key.index,
      }),
    )
    .bytes(Attribute.Local, bytes)
    .bytes(Attribute.Address, bytes);
}

/** Adds the address, or changes lifetimes and flags of the one that is there. @throws RangeError */
export function setAddressMessage(setting: AddressSetting): MessageWriter {
  const { address } = setting;
  const scope = setting.scope ?? (address.startsWith('127.') || address === '::1' ? 'host' : 'global');
  const writer = keyed(AddressMessage.New, MessageFlag.Create | MessageFlag.Replace, setting, scope);
  const flags =
    (setting.noDad === true ? AddressFlag.NoDad : 0) |
    (setting.noPrefixRoute === true ? AddressFlag.NoPrefixRoute : 0);
  if (flags !== 0) writer.u32(Attribute.Flags, flags);
  if (setting.protocol !== undefined) writer.u8(Attribute.Protocol, setting.protocol);
  // Always sent: without it a replaced address would keep the lifetimes it had.
  return writer.bytes(Attribute.CacheInfo, cacheInfo(setting));
}

/** struct ifa_cacheinfo: preferred and valid lifetime in seconds, then two timestamps that are the kernel's. */
function cacheInfo({ address, validLifetime, preferredLifetime }: AddressSetting): Uint8Array {
  const valid = validLifetime ?? forever;
  const preferred = preferredLifetime ?? valid;
  const isLifetime = (seconds: number): boolean =>
    Number.isInteger(seconds) && seconds >= 0 && seconds <= forever;
  if (!isLifetime(valid) || valid === 0) {
    throw new RangeError(`valid lifetime of ${address}: ${valid} s; allowed are whole seconds from 1`);
  }
  if (!isLifetime(preferred) || preferred > valid) {
    throw new RangeError(`preferred lifetime of ${address}: ${preferred} s; allowed are 0 to ${valid}`);
  }
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, preferred, true);
  view.setUint32(4, valid, true);
  return bytes;
}

/** Removes the address. @throws RangeError */
export function deleteAddressMessage(key: AddressKey): MessageWriter {
  return keyed(AddressMessage.Delete, 0, key, 'global');
}

/** A dump of the addresses, of one interface when its index is given. */
export function dumpAddresses(index = 0): MessageWriter {
  return new MessageWriter(AddressMessage.Get, MessageFlag.Request | MessageFlag.Dump).structure(
    structure({ family: 0, prefixLength: 0, scope: 0, index }),
  );
}

/** Reads RTM_NEWADDR or RTM_DELADDR; undefined for families other than IPv4 and IPv6. @throws NetlinkFormatError */
export function parseAddress(payload: Uint8Array): InterfaceAddress | undefined {
  const reader = new PayloadReader(payload, structureLength, 'ifaddrmsg');
  if (versionOfFamily(reader.u8(0)) === undefined) return undefined;
  const attributes = reader.attributes();
  // On a point-to-point link IFA_ADDRESS is the other end; IFA_LOCAL is ours where it is given.
  const address = attributes.address(Attribute.Local) ?? attributes.address(Attribute.Address);
  if (address === undefined) return undefined;
  const label = attributes.string(Attribute.Label);
  const protocol = attributes.u8(Attribute.Protocol);
  const lifetimes = attributes.bytes(Attribute.CacheInfo);
  return {
    index: reader.u32(4),
    address,
    prefixLength: reader.u8(1),
    scope: scopeName(reader.u8(3)),
    validLifetime: lifetime(lifetimes, 4),
    preferredLifetime: lifetime(lifetimes, 0),
    flags: attributes.u32(Attribute.Flags) ?? reader.u8(2),
    ...(label === undefined ? {} : { label }),
    ...(protocol === undefined ? {} : { protocol }),
  };
}

function lifetime(cache: Uint8Array | undefined, offset: number): number | undefined {
  if (cache === undefined || cache.length < 8) return undefined;
  const seconds = new DataView(cache.buffer, cache.byteOffset, 8).getUint32(offset, true);
  return seconds === forever ? undefined : seconds;
}

/**
 * The global IPv6 address of an interface that others may rely on: neither deprecated nor still looked for on the link (RFC 4862
 * sections 5.4 and 5.5.4), and one that stays rather than one with a lifetime, as advertisements of routers give it.
 */
export function lastingGlobalAddress(addresses: readonly InterfaceAddress[]): string | undefined {
  const unsure = AddressFlag.Tentative | AddressFlag.DadFailed | AddressFlag.Deprecated;
  const usable = addresses.filter(
    ({ address, scope, flags }) => ipVersion(address) === 6 && scope === 'global' && (flags & unsure) === 0,
  );
  return (usable.find(({ flags }) => (flags & AddressFlag.Permanent) !== 0) ?? usable[0])?.address;
}

/** What duplicate address detection has said of the IPv6 addresses on some interfaces (RFC 4862 section 5.4). */
export function detectionOf(
  addresses: readonly InterfaceAddress[],
  links: readonly { readonly index: number; readonly name: string }[],
): { address: string; interface: string; hasFailed: boolean; isTentative: boolean }[] {
  return links.flatMap(({ index, name }) =>
    addresses
      .filter((one) => one.index === index && ipVersion(one.address) === 6)
      .map(({ address, flags }) => ({
        address,
        interface: name,
        hasFailed: (flags & AddressFlag.DadFailed) !== 0,
        isTentative: (flags & AddressFlag.Tentative) !== 0,
      })),
  );
}
