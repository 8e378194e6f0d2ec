import { quoteVisibly } from "../base/log/quote.ts";

/** Returns a name for a list with commas, in quotes if it could be mistaken for several, or for a note. */
export const quoteUnlessPlain = (name: string): string =>
  /^[\p{L}\p{N}._/@+~$-]+$/u.test(name) ? name : quoteVisibly(name);
