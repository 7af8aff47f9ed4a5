/**
 * The shortest octets found that still fail: pieces are taken out, half of the length first, as long as that helps; then
 * octets are set to 0. Tries a few thousand times at most.
 */
export function shrink(bytes: Uint8Array, fails: (candidate: Uint8Array) => boolean): Uint8Array {
  let smallest = bytes;
  let tries = 3000;
  const take = (candidate: Uint8Array): boolean => {
    tries -= 1;
    if (tries < 0 || !fails(candidate)) return false;
    smallest = candidate;
    return true;
  };
  for (let size = bytes.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at + size <= smallest.length; ) {
      const without = Uint8Array.from([...smallest.subarray(0, at), ...smallest.subarray(at + size)]);
      const isTaken =
        take(withFieldLengths(without, at, size)) || take(withHeaderLength(without)) || take(without);
      if (!isTaken) at += size;
    }
  }
  for (let at = 19; at < smallest.length; at++) {
    if (smallest[at] === 0) continue;
    const zeroed = Uint8Array.from(smallest);
    zeroed[at] = 0;
    take(zeroed);
  }
  return smallest;
}

function withHeaderLength(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  if (copy.length >= 19) {
    copy[16] = copy.length >> 8;
    copy[17] = copy.length;
  }
  return copy;
}

/** The lengths around the place of an UPDATE where `size` octets are gone, as they should be (RFC 4271 section 4.3). */
function withFieldLengths(bytes: Uint8Array, at: number, size: number): Uint8Array {
  const copy = withHeaderLength(bytes);
  if (copy[18] !== 2 || at < 21 || copy.length < 23) return copy;
  const view = new DataView(copy.buffer);
  const withdrawnLength = view.getUint16(19);
  const attributes = 21 + withdrawnLength;
  if (at < attributes) view.setUint16(19, Math.max(0, withdrawnLength - size));
  else if (attributes + 2 <= copy.length) {
    view.setUint16(attributes, Math.max(0, view.getUint16(attributes) - size));
  }
  return copy;
}
