import { FieldError, type FieldKind, type TextField, textField } from './field.ts';

/** IFNAMSIZ of linux/if.h, less the NUL; dev_valid_name() refuses the rest. */
export const INTERFACE_NAME: RegExp = /^(?!\.{1,2}$)[!-$&-.0-9;-~]{1,15}$/;

/** A field of text of one form, which errors and documentation give in words. */
function formField(kind: Omit<FieldKind, 'jsonSchema'>, form: RegExp, longest: number): TextField<string> {
  const jsonSchema = { type: 'string' as const, pattern: form.source, maxLength: longest };
  return textField({ ...kind, jsonSchema }, (text) => {
    if (text === '') throw new FieldError('is empty');
    if (text.length > longest) throw new FieldError(`is longer than ${longest} characters`);
    if (!form.test(text))
      throw new FieldError(`is not ${/^[aeiou]/.test(kind.type) ? 'an' : 'a'} ${kind.type}`);
    return text;
  });
}

/** The name of something of the configuration, for logs, metrics and commands. */
export function configName(): TextField<string> {
  const allowed =
    'letters, digits, dots, hyphens and underscores, 63 at most, the first a letter or a digit, like masters or lb-2';
  return formField({ type: 'name', allowed }, /^[0-9A-Za-z][0-9A-Za-z._-]*$/, 63);
}

/** A DNS name, in any case. It need not have an address now. */
export function dnsName(): TextField<string> {
  const allowed =
    'labels of letters, digits and hyphens with dots between them, 253 characters at most, like api.example.org';
  const label = '[0-9A-Za-z]([0-9A-Za-z-]{0,61}[0-9A-Za-z])?';
  return formField({ type: 'DNS name', allowed }, new RegExp(`^${label}(\\.${label})*$`), 253);
}

/** The name of a Kubernetes Node: a DNS subdomain in lower case. */
export function nodeName(): TextField<string> {
  const allowed =
    'lower-case letters, digits, hyphens and dots, the first and the last a letter or a digit, 253 at most, like master-1';
  return formField({ type: 'Node name', allowed }, /^[0-9a-z]([0-9a-z.-]*[0-9a-z])?$/, 253);
}

/** The name of a network interface; it need not be there yet. */
export function interfaceName(): TextField<string> {
  const allowed = '1 to 15 characters without a space, a slash, a colon or a percent sign, like eth0';
  return formField({ type: 'interface name', allowed }, INTERFACE_NAME, 15);
}

/** Path and query of a request. */
export function requestPath(): TextField<string> {
  const allowed =
    'a path that begins with a slash, of printable ASCII without spaces, 1024 characters at most, like /readyz';
  return formField({ type: 'request path', allowed }, /^\/[!-~]*$/, 1024);
}
