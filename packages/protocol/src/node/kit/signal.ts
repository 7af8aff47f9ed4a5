/** A promise that a handler resolves; the first value counts. */
export function signal<T>(): { readonly heard: Promise<T>; readonly hear: (value: T) => void } {
  let hear: (value: T) => void = () => undefined;
  const heard = new Promise<T>((resolve) => {
    hear = resolve;
  });
  return { heard, hear: (value) => hear(value) };
}
