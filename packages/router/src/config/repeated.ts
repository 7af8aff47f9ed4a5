import type { CrossFieldFault } from '@bgp-lb/daemon';

/** Values that are there more than once, each but the first. Pure. */
export function repeated(
  values: readonly (string | undefined)[],
  path: (i: number) => CrossFieldFault['path'],
  allowed: string,
): CrossFieldFault[] {
  return values.flatMap((value, i) =>
    value !== undefined && values.indexOf(value) < i
      ? [{ path: path(i), message: 'is there twice', value, allowed }]
      : [],
  );
}
