import { Refusal } from "../../base/errors.ts";

/** The refusals of replacements in many files. */
export const refuseReplacing = {
  emptyQuery: (): Refusal =>
    new Refusal("bad-input", "`query` is empty, which would match everywhere. Send the text to replace."),

  sameText: (): Refusal =>
    new Refusal(
      "bad-input",
      "`query` and `replacement` are equal, so nothing would change. Send another text.",
    ),

  tooManyFiles: (most: number): Refusal =>
    new Refusal(
      "bad-input",
      `More than ${most} files match, and one call changes at most ${most}. Nothing was changed. Narrow \`path\` or the globs, and make several calls.`,
    ),

  wrongCount: (
    field: "expect_files" | "expect_matches",
    {
      expected,
      found,
      files,
    }: { readonly expected: number; readonly found: number; readonly files: object[] },
  ): Refusal =>
    new Refusal(
      "bad-input",
      `\`${field}\` is ${expected}, and there ${found === 1 ? "is" : "are"} ${found}. Nothing was changed. Check \`details.files\`, narrow \`path\` or the globs, or send the actual number.`,
      undefined,
      { details: { expected, found, files } },
    ),
} as const;
