declare const brand: unique symbol;

/** A string that only its own module makes; everywhere else it is passed on, never built. */
export type Brand<Name extends string> = string & { readonly [brand]: Name };
