/** Replaces a text or a pattern in many files, on a planned tree. */
import { Refusal, refuse } from "../../base/errors.ts";
import type { PlannedTree } from "../../filesystem/overlay/planned-tree.ts";
import type { CoderContext } from "../define.ts";
import { pauseOf } from "../services/pause.ts";
import type { ChangeAnswer, ChangeResult } from "../transact/changes.ts";
import { editFile } from "../update-file/edit-file.ts";
import type { ReplaceOp, StrReplaceOp } from "../update-file/ops.ts";

/** A replacement as a caller sends it. */
export interface TreeReplacement {
  readonly query: string;
  readonly replacement: string;
  readonly regex: boolean;
  readonly ignore_case: boolean;
  readonly whole_word: boolean;
  readonly answer: ChangeAnswer;
  /** The label of the encoding of files without a byte order mark. */
  readonly encoding?: string | undefined;
}

/** Returns the op that makes the replacement in one file. */
function opOf({
  query,
  replacement,
  regex,
  ignore_case: ignoreCase,
  whole_word: isWord,
}: TreeReplacement): ReplaceOp | StrReplaceOp {
  if (!regex && !ignoreCase && !isWord)
    return { op: "str_replace", old_str: query, new_str: replacement, replace_all: true };
  const pattern = regex ? query : escapePattern(query);
  return {
    op: "replace",
    pattern: isWord ? asWord(pattern) : pattern,
    replacement: regex ? replacement : replacement.replaceAll("$", "$$$$"),
    ignore_case: ignoreCase,
    dot_matches_newline: false,
  };
}

/** Returns a pattern whose matches touch no word character at either end, as in a search for whole words. */
const asWord = (pattern: string): string => `\\b{start-half}(?:${pattern})\\b{end-half}`;

/** Returns a pattern of Rust's regex that matches this text. */
const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|#&~-]/g, "\\$&");

/**
 * Returns a query that finds every file with a match, and perhaps others: in a search, `^` and `$` match at
 * each line, and not only at both ends of the text. A line end in the query stands for LF and CRLF.
 */
export function candidateQuery({ query, regex }: Pick<TreeReplacement, "query" | "regex">) {
  const isOfLines = /[\r\n]/.test(query);
  if (!regex && !isOfLines) return { pattern: query, regex, multiline: false };
  const pattern = regex ? query : escapePattern(query);
  return { pattern: withEitherLineEnd(pattern), regex: true, multiline: true };
}

/** Returns a pattern whose line ends outside classes also match CRLF. */
function withEitherLineEnd(pattern: string): string {
  let depth = 0;
  return pattern.replace(/\\r\\n|\r\n|\\?\n|\\[\s\S]|[[\]]/g, (token) => {
    if (token === "[") depth++;
    else if (token === "]") depth = Math.max(0, depth - 1);
    const isLineEnd = token === "\n" || token.endsWith("\\n") || token.endsWith("\n");
    return isLineEnd && depth === 0 ? "\\r?\\n" : token;
  });
}

/** The result of replacing in one file. */
export interface FileReplacement {
  readonly matches: number;
  readonly result: ChangeResult;
}

interface Made {
  readonly tree: PlannedTree;
  readonly context: CoderContext;
}

/** Makes the replacement in each file with a match. Throws the first refusal, with the index of its file. */
export async function replaceInFiles(
  files: readonly string[],
  replacement: TreeReplacement,
  { tree, context }: Made,
): Promise<FileReplacement[]> {
  const op = opOf(replacement);
  const pause = pauseOf(context);
  const replaced: FileReplacement[] = [];
  for (const [index, path] of files.entries()) {
    tree.change = index;
    context.deadline.check();
    await pause();
    try {
      const one = await replaceInFile(path, op, replacement, context);
      if (one !== undefined) replaced.push(one);
    } catch (error) {
      throw error instanceof Refusal ? refuse.inChange(error, index) : error;
    }
  }
  return replaced;
}

async function replaceInFile(
  path: string,
  op: ReplaceOp | StrReplaceOp,
  { answer, encoding }: TreeReplacement,
  context: CoderContext,
): Promise<FileReplacement | undefined> {
  const ops = [op];
  try {
    const {
      lines,
      revision,
      fields,
      matches = 0,
    } = await editFile(
      { path, ops, encoding },
      { form: answer, hasRevision: true, countsMatches: true },
      context,
    );
    const counts = { applied: 1, new_line_count: lines };
    const result = { op: "update" as const, path, ...counts, revision: revision!, ...fields };
    // A search by lines finds more than a pattern that is matched in the whole text; then nothing is changed.
    return matches === 0 ? undefined : { matches, result };
  } catch (error) {
    // The file was changed since the search.
    if (error instanceof Refusal && (error.reason === "text-not-found" || error.reason === "already-applied"))
      return undefined;
    throw error;
  }
}
