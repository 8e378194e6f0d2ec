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
    }: { readonly expected: number; readonly found: number; readonly files: readonly object[] },
  ): Refusal =>
    new Refusal(
      "bad-input",
      `\`${field}\` is ${expected}, and there ${found === 1 ? "is" : "are"} ${found}. Nothing was changed. Narrow \`path\` or the globs, or send the actual number.${announce(files.length)}`,
      undefined,
      { details: { expected, found, files: files.slice(0, shownFiles) } },
    ),
} as const;

/** Maximum files in the details of a refusal. */
const shownFiles = 20;

/** Says which of the files with matches the details name. */
function announce(files: number): string {
  if (files === 0) return "";
  return files > shownFiles
    ? ` The first ${shownFiles} of ${files} files with matches follow.`
    : " The files with matches follow.";
}
