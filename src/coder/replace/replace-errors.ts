import { quoteShort, Refusal } from "../../base/errors.ts";

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

  /** Refuses to replace in roots that are read-only. `total` counts the files with matches in all roots. */
  inReadOnlyRoots: ({ readOnly, files, total }: ReadOnlyMatches): Refusal => {
    const named = readOnly.slice(0, maxRootsNamed).map((root) => `${quoteShort(root)}`);
    const more = readOnly.length - named.length;
    const globs = readOnly.map((root) => JSON.stringify(`${root}/**`));
    const others = total - files === 1 ? "file" : `${total - files} files`;
    const remedy =
      files < total
        ? `Send \`exclude_globs\` with ${globs.join(", ")} to replace in the other ${others}, or a \`path\` in another root.`
        : "Copy the files into a root that can be written to, or ask the user.";
    return new Refusal(
      "protected",
      `${files} of the ${total} files with matches ${files === 1 ? "lies" : "lie"} in read-only roots: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}. Nothing was changed. ${remedy}`,
    );
  },

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

interface ReadOnlyMatches {
  readonly readOnly: readonly string[];
  readonly files: number;
  readonly total: number;
}

/** Maximum roots that a refusal names in its sentence. */
const maxRootsNamed = 10;

/** Maximum files in the details of a refusal. */
const shownFiles = 20;

/** Says which of the files with matches the details name. */
function announce(files: number): string {
  if (files === 0) return "";
  return files > shownFiles
    ? ` The first ${shownFiles} of ${files} files with matches follow.`
    : " The files with matches follow.";
}
