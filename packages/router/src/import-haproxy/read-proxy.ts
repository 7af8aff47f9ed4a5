import { isIP } from 'node:net';
import type { Directive, HaproxyLine, Section } from './haproxy-sections.ts';
import { whyNotTaken } from './known-lines.ts';
import { type CheckPace, type ServerOptions, serverOptions } from './server-options.ts';

/** Where clients connect to. */
export interface Bind {
  /** Undefined where it binds all addresses, or those of the host itself alone. */
  readonly address: string | undefined;
  readonly port: number;
  readonly number: number;
}

/** Where they are led to. */
export interface Server {
  readonly name: string;
  readonly address: string;
  /** Undefined for the port that clients connect to. */
  readonly port: number | undefined;
  readonly number: number;
  readonly pace: CheckPace;
  readonly isVerified: boolean;
}

/** What was not taken over, with the reason where there is one. */
export interface NotTaken extends HaproxyLine {
  readonly reason?: string;
}

/** What a section says; of `defaults`, what the sections after it begin with. */
export interface ProxySection {
  readonly section: Section;
  readonly mode: string;
  readonly isDisabled: boolean;
  readonly binds: readonly Bind[];
  readonly servers: readonly Server[];
  /** The backend that all its connections go to. */
  readonly target: string | undefined;
  /** Its health check asks for a path of the API server. */
  readonly asksApi: boolean;
  readonly template: Pick<ServerOptions, 'pace' | 'isVerified'>;
  /** Known lines without a counterpart, each with its reason. */
  readonly replaced: readonly NotTaken[];
  /** What may be missed: not understood, or not to be had. */
  readonly left: readonly NotTaken[];
}

const byPortAlone = 'connections are led by the address and port that they are for alone';

/** Reads a section. @param base the `defaults` that it begins with */
export function readProxy(section: Section, base: ProxySection | undefined): ProxySection {
  const reader = new ProxyReader(section, base);
  for (const line of section.lines) reader.take(line);
  return reader.result();
}

class ProxyReader {
  readonly #section: Section;
  #mode: string;
  #isDisabled: boolean;
  #binds: Bind[] = [];
  #servers: Server[] = [];
  #target: string | undefined;
  #asksApi: boolean;
  #template: ProxySection['template'];
  readonly #replaced: NotTaken[] = [];
  readonly #left: NotTaken[] = [];

  constructor(section: Section, base: ProxySection | undefined) {
    this.#section = section;
    this.#mode = base?.mode ?? 'tcp';
    this.#isDisabled = base?.isDisabled ?? false;
    this.#target = base?.target;
    this.#asksApi = base?.asksApi ?? false;
    this.#template = base?.template ?? { pace: {} };
    const { heading } = section;
    const rest = heading?.words.slice(section.name === '' ? 1 : 2) ?? [];
    if (heading !== undefined && rest.length > 0 && rest[0] !== 'from') this.#left.push(heading);
  }

  result(): ProxySection {
    return {
      section: this.#section,
      mode: this.#mode,
      isDisabled: this.#isDisabled,
      binds: this.#binds,
      servers: this.#servers,
      target: this.#target,
      asksApi: this.#asksApi,
      template: this.#template,
      replaced: this.#replaced,
      left: this.#left,
    };
  }

  take(line: Directive): void {
    const [word = '', ...rest] = line.words;
    if (/^(option|http-check|tcp-check)$/.test(word)) {
      this.#asksApi ||= rest.some((one) => /^\/(healthz|livez|readyz)\b/.test(one));
    }
    if (!this.#isTaken(line, word, rest)) {
      const reason = whyNotTaken(line.text, this.#section.kind);
      if (reason === undefined) this.#left.push(line);
      else this.#replaced.push({ ...line, reason });
    }
  }

  #isTaken(line: Directive, word: string, rest: readonly string[]): boolean {
    switch (word) {
      case 'bind':
        return this.#bind(line, rest);
      case 'server':
        return this.#server(line, rest);
      case 'default-server': {
        const { pace, isVerified } = this.#options(line, rest);
        const before = this.#template;
        this.#template = {
          pace: { ...before.pace, ...pace },
          isVerified: isVerified ?? before.isVerified ?? true,
        };
        return true;
      }
      case 'mode':
        this.#mode = rest.join(' ');
        return true;
      case 'disabled':
        this.#isDisabled = true;
        return rest.length === 0;
      case 'default_backend':
        this.#target ??= rest[0];
        return rest.length === 1;
      case 'use_backend':
        if (rest.length === 1) this.#target = rest[0];
        else this.#left.push({ ...line, reason: byPortAlone });
        return true;
      default:
        return false;
    }
  }

  #bind(line: Directive, [where = '', ...options]: readonly string[]): boolean {
    const found = where.split(',').map(endpoint);
    const binds = found.flatMap((one): Bind[] => {
      if (one?.port === undefined) return [];
      const { host, port } = one;
      const isAll = ['*', '', '0.0.0.0', '::'].includes(host);
      const isOwn = host.startsWith('127.') || host === '::1';
      if (!isAll && isIP(host) === 0) return [];
      return [{ address: isAll || isOwn ? undefined : host, port, number: line.number }];
    });
    if (binds.length < found.length) return false;
    this.#binds = [...this.#binds, ...binds];
    const others = options.filter(
      (option, at) =>
        !['transparent', 'v4v6', 'v6only', 'name'].includes(option) && options[at - 1] !== 'name',
    );
    if (others.length > 0) this.#left.push({ ...line, text: others.join(' ') });
    return true;
  }

  #server(line: Directive, [name = '', where = '', ...options]: readonly string[]): boolean {
    const found = endpoint(where);
    if (found === undefined || found.host === '' || found.host.includes('@')) return false;
    const { pace, isVerified, isDisabled } = this.#options(line, options);
    const { number } = line;
    if (isDisabled) {
      this.#replaced.push({ ...line, reason: 'it is disabled' });
      return true;
    }
    const verified = isVerified ?? this.#template.isVerified ?? true;
    const whole = { ...this.#template.pace, ...pace };
    const { host: address, port } = found;
    this.#servers = [...this.#servers, { name, address, port, number, pace: whole, isVerified: verified }];
    return true;
  }

  #options({ number }: Directive, options: readonly string[]): ServerOptions {
    const read = serverOptions(options);
    this.#replaced.push(...read.replaced.map((one) => ({ number, ...one })));
    this.#left.push(...read.unknown.map((text) => ({ number, text })));
    return read;
  }
}

/** `10.0.0.1:6443`, `[fd00::1]:6443`, `m1.example.net`, `*:6443`, `:6443`; addresses of IPv6 without brackets have a port. */
function endpoint(text: string): { readonly host: string; readonly port: number | undefined } | undefined {
  const match = /^(?:ipv[46]@)?(?:\[([^\]]*)\]|([^[\]/$+]*?))(?::(\d{1,5}))?$/.exec(text);
  if (match === null) return undefined;
  const host = match[1] ?? match[2] ?? '';
  if (match[3] === undefined) return { host, port: undefined };
  const port = Number(match[3]);
  return port < 1 || port > 65_535 ? undefined : { host, port };
}
