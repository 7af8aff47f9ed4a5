import { customResourceDefinitions } from './custom-resources.ts';

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly 'x-kubernetes-validations'?: readonly { readonly message: string }[];
}

interface Definition {
  readonly spec: {
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly shortNames: readonly string[];
    };
    readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Schema } }];
  };
}

const INTRODUCTION = `# Custom resources

<!-- Made by scripts/gen-config-docs.ts from the schemas: change those. -->

The kinds of the group \`bgp-lb.dev\`, version \`v1alpha1\`, all of them namespaced. What they are for, and what the conditions say, is in [controller.md](controller.md). \`*\`: required.
`;

/** The page of all kinds and fields. */
export function fieldsMarkdown(): string {
  const chapters = (customResourceDefinitions() as readonly Definition[]).map(({ spec }) => {
    const { kind, plural, shortNames } = spec.names;
    const { description = '', properties = {} } = spec.versions[0].schema.openAPIV3Schema;
    const rules = properties['spec']?.['x-kubernetes-validations'] ?? [];
    return [
      `\n## ${kind}\n`,
      `${description} \`kubectl get ${plural}\`, or \`${shortNames[0]}\`.\n`,
      '| field | type | default | |\n|---|---|---|---|',
      ...rowsOf('spec', properties['spec'] ?? {}, true),
      ...rowsOf('status', properties['status'] ?? {}, false),
      ...(rules.length === 0 ? [] : [`\nWhat is refused:\n`, ...rules.map(({ message }) => `- ${message}`)]),
      '',
    ].join('\n');
  });
  return `${INTRODUCTION}${chapters.join('')}`;
}

function rowsOf(path: string, schema: Schema, isRequired: boolean): string[] {
  const { type = '', description = '', properties, items, default: preset } = schema;
  const values = schema.enum === undefined ? type : schema.enum.map((one) => `\`${one}\``).join(', ');
  const shown = typeof preset === 'object' || preset === undefined ? '' : `\`${String(preset)}\``;
  const row = `| \`${path}\`${isRequired ? ' *' : ''} | ${values} | ${shown} | ${description} |`;
  const inner = items?.properties ?? properties ?? {};
  const required = items?.required ?? schema.required ?? [];
  // metav1.Condition is explained by Kubernetes.
  if (path.endsWith('.conditions')) return [row];
  const place = items === undefined ? path : `${path}[]`;
  return [
    row,
    ...Object.entries(inner).flatMap(([key, child]) =>
      rowsOf(`${place}.${key}`, child, required.includes(key)),
    ),
  ];
}
