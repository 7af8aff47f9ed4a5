import type { Rule } from '@bgp-lb/linux';
import { parseIpAddress } from '@bgp-lb/protocol';
import type { KernelVip } from './kernel-data-plane-options.ts';
import type { Client } from './possible-clients.ts';

/** Of the kernel's own rule for the table main. */
const MAIN_PRIORITY = 32_766;
const TCP = 6;

/** Whether a rule in front of the table main takes a client's packets to a VIP. */
export function ruleFits(rule: Rule, vip: KernelVip, { source, link }: Client, mark: number): boolean {
  if (rule.priority >= MAIN_PRIORITY || rule.outputInterface !== undefined || rule.isForVrf === true) {
    return false;
  }
  const { inputInterface, ipProtocol = TCP, destinationPorts: [from, to] = [0, 0xffff] } = rule;
  const { mark: wanted = 0, markMask = rule.mark === undefined ? 0 : 0xffff_ffff } = rule;
  const fits =
    (inputInterface === undefined || inputInterface === link.name) &&
    ipProtocol === TCP &&
    from <= vip.port &&
    vip.port <= to &&
    (mark & markMask) >>> 0 === wanted &&
    (rule.source === undefined || contains(rule.source, source)) &&
    (rule.destination === undefined || contains(rule.destination, vip.address));
  return fits !== (rule.isInverted === true);
}

function contains(prefix: string, address: string): boolean {
  const [network = '', length = '0'] = prefix.split('/');
  const [a, b] = [parseIpAddress(network).bytes, parseIpAddress(address).bytes];
  const bits = (bytes: Uint8Array): string =>
    [...bytes]
      .map((byte) => byte.toString(2).padStart(8, '0'))
      .join('')
      .slice(0, Number(length));
  return a.length === b.length && bits(a) === bits(b);
}

/** `100 iif eth1 lookup 77`, as ip(8) has it. */
export function describeRule(rule: Rule): string {
  const { priority, source, destination, inputInterface, ipProtocol, destinationPorts, table, action } = rule;
  const { mark, markMask = 0xffff_ffff, isInverted = false } = rule;
  return [
    `${priority}`,
    ...(isInverted ? ['not'] : []),
    ...(source === undefined ? [] : [`from ${source}`]),
    ...(destination === undefined ? [] : [`to ${destination}`]),
    ...(mark === undefined
      ? []
      : [`fwmark ${hex(mark)}${markMask === 0xffff_ffff ? '' : `/${hex(markMask)}`}`]),
    ...(inputInterface === undefined ? [] : [`iif ${inputInterface}`]),
    ...(ipProtocol === undefined ? [] : [`ipproto ${ipProtocol}`]),
    ...(destinationPorts === undefined ? [] : [`dport ${destinationPorts.join('-')}`]),
    action === 'table' ? `lookup ${table}` : action,
  ].join(' ');
}

function hex(mark: number): string {
  return `0x${mark.toString(16)}`;
}
