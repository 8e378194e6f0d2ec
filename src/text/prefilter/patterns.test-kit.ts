/** Patterns that the tests of both DFAs share. */
import fc from "fast-check";

const atom = fc.constantFrom(
  ..."a,b,ab,_,-,\\w,\\W,\\d,\\s,.,[^a],[a-b],é,\\b,\\B,^,$,\\A,\\z,(?m:^),(?m:$),(?Rm:^),(?Rm:$),\\r,\\n,(?-u:\\b),(?-u:\\B),\\b{start},\\b{end},\\b{start-half},\\b{end-half},(?-u:\\b{start}),(?-u:\\b{end}),(?-u:\\b{start-half}),(?-u:\\b{end-half}),(?i:k),(?:)".split(
    ",",
  ),
);
const quantifier = fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "+?", "{0}");
/** Patterns of all kinds of HIR, which match short texts of a few letters. */
export const anyPattern = fc.letrec<{ any: string; group: string; part: string }>((tie) => ({
  part: fc.oneof({ weight: 4, arbitrary: atom }, { weight: 1, arbitrary: tie("group") }),
  any: fc
    .array(
      fc.tuple(tie("part"), quantifier).map(([part, times]) => `(?:${part})${times}`),
      { minLength: 1, maxLength: 4 },
    )
    .map((parts) => parts.join("")),
  group: fc.tuple(tie("any"), tie("any")).map(([one, other]) => `(?:${one}|${other})`),
})).any;
