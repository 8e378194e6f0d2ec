/** The encodings of files by their paths, as the configuration says. */
import { compileGlobSet, type GlobSet, maxSetUnits } from "../globs/glob-set.ts";
import type { Encoding } from "./codec.ts";

/** An encoding of all files that a glob matches. */
export interface EncodingRule {
  readonly glob: string;
  readonly encoding: Encoding;
}

export class EncodingRules {
  readonly rules: readonly EncodingRule[];
  readonly #compiled: readonly { readonly globs: GlobSet; readonly encoding: Encoding }[];

  /** Compiles the globs. Throws a `GlobError` for one that is malformed. */
  constructor(rules: readonly EncodingRule[]) {
    this.rules = rules;
    this.#compiled = rules.map(({ glob, encoding }) => ({
      globs: compileGlobSet([glob], maxSetUnits.ofOperator),
      encoding,
    }));
  }

  /** Returns the encoding of the file at a path from the base, by the first rule that matches. */
  of(path: string): Encoding | undefined {
    return this.#compiled.find(({ globs }) => globs.matches(path))?.encoding;
  }
}
