/** A configuration as it is read: nothing of it is changed. Of a zod schema: `Immutable<z.output<typeof schema>>`. */
export type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Immutable<T[Key]> }
    : T;
