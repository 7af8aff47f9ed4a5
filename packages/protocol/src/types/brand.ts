declare const brand: unique symbol;

/** A nominal type over `T`: a value of it can only come from the one function that checks it. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
