/** Extracts prefix literals: strings that every match starts with. They may hold newlines. */
import type { Hir } from "../regex/hir.ts";
import { classStrings, holdsReplacement, type LiteralSeq, type Literals } from "./inner-literals.ts";

/** Returns the literals that each match of `hir` starts with, one after the other; empty when there are none. */
export function extractPrefixLiterals(hir: Hir): LiteralSeq {
  switch (hir.kind) {
    case "concat":
      return ofConcat(hir.of);
    case "repetition":
      return hir.min === 0 ? [] : extractPrefixLiterals(hir.of);
    default: {
      const literals = literalsOf(hir);
      return literals === undefined ? [] : [literals];
    }
  }
}

/** Assertions match nothing. */
function ofConcat(parts: readonly Hir[]): LiteralSeq {
  const seq: Literals[] = [];
  for (const part of parts) {
    if (part.kind === "look" || part.kind === "empty") continue;
    const literals = literalsOf(part);
    if (literals === undefined) return [...seq, ...extractPrefixLiterals(part)];
    seq.push(literals);
  }
  return seq;
}

/** What a literal or a class matches; undefined where that may be bytes that are not UTF-8, which are not these strings. */
function literalsOf(hir: Hir): Literals | undefined {
  const literals = stringsOf(hir);
  return literals?.some(holdsReplacement) ? undefined : literals;
}

function stringsOf(hir: Hir): Literals | undefined {
  if (hir.kind === "literal") return [Buffer.from(hir.bytes).toString("latin1")];
  return hir.kind === "class" ? classStrings(hir.ranges) : undefined;
}
