/** Extracts prefix literals: strings that every match starts with. They may contain newlines. */
import type { Hir } from "../regex/hir.ts";
import { classStrings, holdsReplacement, type LiteralSeq, type Literals } from "./inner-literals.ts";

/**
 * Returns the literals that each match of `hir` starts with, one after the other, or an empty seq if none are
 * known.
 */
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

/** Returns the prefix literals of a concatenation. Assertions match nothing. */
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

/**
 * Returns the strings that a literal or a class matches, or `undefined` if the matching bytes may be invalid
 * UTF-8, which differs from these strings.
 */
function literalsOf(hir: Hir): Literals | undefined {
  const literals = stringsOf(hir);
  return literals?.some(holdsReplacement) ? undefined : literals;
}

function stringsOf(hir: Hir): Literals | undefined {
  if (hir.kind === "literal") return [Buffer.from(hir.bytes).toString("latin1")];
  return hir.kind === "class" ? classStrings(hir.ranges) : undefined;
}
