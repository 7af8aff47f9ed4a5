/** Addresses and prefixes as text that was read and checked before: nothing is checked here. */

/** The version of an address, with or without a zone, or of a prefix: only text of IPv6 has colons. */
export function ipVersion(text: string): 4 | 6 {
  return text.includes(':') ? 6 : 4;
}

/** Whether two addresses or prefixes are of one version. */
export function isSameVersion(a: string, b: string): boolean {
  return ipVersion(a) === ipVersion(b);
}

/** `10.100.0.1/32`: an address as the prefix of that host alone. */
export function hostPrefix(address: string): string {
  return `${address}/${ipVersion(address) === 6 ? 128 : 32}`;
}

/** `10.0.0.1:179`, `[fd00::1]:179`. @param host an address, or a name */
export function endpointText(host: string, port: number): string {
  return ipVersion(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}
