import { type Static, Type } from "@sinclair/typebox";
import { Refusal } from "../base/errors.ts";
import { createTimeSlice, runAtOnce, runInSlices, type Steps } from "../base/scheduling/time-slice.ts";
import { Named, UInt32, UInt64 } from "../base/schema/fragments.ts";
import type { Wording } from "../calls/contract/wording.ts";
import type { Jail } from "../filesystem/jail/folder.ts";
import type { SearchAnswer } from "../search/request.ts";
import { maxSites } from "../text/edits/echo.ts";
import { JsonBudget } from "../text/sizes/json-budget.ts";
import { jsonBytes } from "../text/sizes/json-size.ts";
import { type CoderContext, defineCoderFunction } from "./define.ts";
import { FileEncoding } from "./fields/file-encoding.ts";
import { folderFilterOf } from "./fields/folder-filter.ts";
import { parseGlobFields } from "./fields/request-globs.ts";
import { renderPath } from "./render/entry-text.ts";
import { joinLines, renderEach } from "./render/lines.ts";
import { candidateQuery, type FileReplacement, replaceInFiles } from "./replace/replace-all.ts";
import { refuseReplacing } from "./replace/replace-errors.ts";
import { fileLimitOf } from "./search/file-limit.ts";
import { hintsFor, hintsOnFile } from "./search/hints.ts";
import { encodingOptions } from "./search/matches.ts";
import { LeftOutFields, renderPage } from "./search/pages.ts";
import { parseFileTypes } from "./search.ts";
import { pauseOf } from "./services/pause.ts";
import { type ChangeResult, changeAnswers } from "./transact/changes.ts";
import { type Done, planTransaction, runTransaction, type Transaction } from "./transact/run-transaction.ts";
import { leaveOut } from "./update-file/answer.ts";
import { OpEcho } from "./update-file/ops.ts";
import { renderEdit } from "./update-file/text.ts";
import { EditedFields } from "./update-file.ts";

const Globs = () => Type.Array(Type.String(), { default: [] });

const request = Type.Object(
  {
    answer: Type.Union(
      changeAnswers.map((form) => Type.Literal(form)),
      { default: "echo", isRare: true, description: "What is shown of each file." },
    ),
    dry_run: Type.Boolean({ default: false }),
    encoding: FileEncoding(),
    exclude_globs: Globs(),
    expect_files: Type.Optional(UInt32({ isRare: true, description: "Files there must be." })),
    expect_matches: Type.Optional(UInt32()),
    file_types: Type.Optional(Type.Array(Type.String(), { isRare: true })),
    ignore_case: Type.Boolean({ default: false, isRare: true }),
    include_globs: Globs(),
    include_hidden: Type.Optional(Type.Boolean({ isRare: true })),
    path: Type.String({ default: "." }),
    query: Type.String(),
    regex: Type.Boolean({
      default: false,
      description: "`^` and `$` are the ends of each file; after `(?m)`, those of lines.",
    }),
    replacement: Type.String(),
    respect_gitignore: Type.Optional(Type.Boolean({ isRare: true })),
    use_default_excludes: Type.Optional(Type.Boolean({ isRare: true })),
    whole_word: Type.Boolean({ default: false, isRare: true }),
  },
  { title: "ReplaceInput" },
);

const Result = Named("ReplaceResult", {
  applied: Type.Optional(UInt32()),
  diff: Type.Optional(Type.String({ description: "Unified diff, of at most 4 KiB." })),
  diff_truncated: Type.Optional(Type.Boolean()),
  echoes: Type.Optional(Type.Array(OpEcho, { description: "The lines around each change." })),
  echoes_truncated: Type.Optional(Type.Boolean()),
  ...EditedFields,
  new_line_count: Type.Optional(UInt64()),
  op: Type.String(),
  path: Type.String(),
  revision: Type.Optional(
    Type.String({ description: "SHA-256 of the file after the change; in a dry run, as it would be." }),
  ),
});

/** The schema of a file whose text was replaced, and the number of its matches. */
export const ReplacedFileFields = Named("ReplacedFile", { matches: UInt64(), path: Type.String() });

/** The number of found files that were not replaced. */
export const NotReplaced = UInt64({
  description: "Number of files with a match that no call can change: their names are not UTF-8.",
});

const response = Type.Object(
  {
    committed: Type.Boolean({
      description: "Whether the files are replaced; in the profile `agent`, false without a match.",
    }),
    files: Type.Array(ReplacedFileFields),
    not_replaced: Type.Optional(NotReplaced),
    not_searched: LeftOutFields.not_searched,
    plan: Type.Optional(Type.String({ description: "Send it to coder::commit to do exactly this." })),
    plan_expires_at: Type.Optional(UInt64({ description: "Seconds since 1970." })),
    results: Type.Array(Result),
    transaction: Type.Optional(
      Type.String({ description: "Its name. Absent when there was nothing to do." }),
    ),
    unmatched_globs: LeftOutFields.unmatched_globs,
  },
  { title: "ReplaceOutput" },
);

type Request = Static<typeof request>;
type ReplaceResult = Static<typeof Result>;
type ReplacedFile = Static<typeof ReplacedFileFields>;

/** Maximum files that one call changes. */
const maxFiles = 10_000;

/** Bytes of all echoes or diffs of an answer. */
const shownBytes = 32 * 1024;

/** `coder::replace`: a text or pattern in all files of a tree, all or none (coder §18). */
export const replace = defineCoderFunction({
  id: "coder::replace",
  since: "0.4.0",
  description:
    "Replace a literal or a regex in all files that a search finds, as one transaction: all of them, or none. Ignore files and default excludes apply as in coder::search; a literal is replaced as by str_replace of coder::update-file, a regex as by its replace op. A dry run gives a plan for coder::commit.",
  summary: "a text in many files, all or none",
  brief:
    "Replace a literal, or a regex ($1: a group), in all files that coder::search finds, all or none. `dry_run` gives a plan.",
  effect: "writes",
  isLong: true,
  paths: [{ at: "/path", access: "write-tree" }],
  request,
  response,
  examples: [
    {
      title: "Rename a function everywhere",
      request: { query: "getUser", replacement: "loadUser" },
    },
    {
      title: "Change a value, if it stands in as many places as expected",
      request: {
        query: "timeout = 30",
        replacement: "timeout = 60",
        include_globs: ["src/**"],
        expect_matches: 1,
      },
    },
    {
      title: "See what a pattern would replace in the tests, and get a plan for it",
      request: {
        query: "assert\\.equal\\((.+), (.+)\\)",
        replacement: "expect($1).toBe($2)",
        regex: true,
        include_globs: ["**/*.test.ts"],
        dry_run: true,
      },
    },
  ],
  answerBytes: () => shownBytes,
  async handle(sent, context) {
    if (sent.query === "") throw refuseReplacing.emptyQuery();
    if (!sent.regex && !sent.ignore_case && sent.query === sent.replacement) throw refuseReplacing.sameText();
    const { files, unsure, ...leftOut } = await findFiles(sent, context);
    requireWritableRoots(files, context.jail);
    // A search answers with paths from the base, also in a scope whose paths start elsewhere.
    const changing = { ...context, jail: context.jail.fromBase() };
    const transaction: Transaction<FileReplacement[]> = {
      async make(context, tree) {
        const replaced = await replaceInFiles(files, sent, { tree, context });
        requireCounts(replaced, sent);
        return replaced;
      },
      label: context.label,
      request: { sent, files },
      named: { noun: "File", paths: files },
    };
    if (!sent.dry_run)
      return {
        ...(await committedOf(await runTransaction(transaction, changing), unsure, context)),
        ...leftOut,
      };
    const { value, ...plan } = await planTransaction(transaction, changing, (done) =>
      committedOf(done, unsure, context),
    );
    const shown = await runInSlices(shownOf(value, unsure), createTimeSlice());
    return { committed: false, ...shown, ...plan, ...leftOut };
  },
  render: (answer, { sentence }, sent) => renderReplaced(answer, sentence, { answer: "echo", ...sent }),
});

interface FoundFiles extends Pick<SearchAnswer, "not_searched" | "unmatched_globs"> {
  readonly files: readonly string[];
  /** The number of paths with U+FFFD, which may stand for bytes of a name that is not UTF-8. */
  readonly unsure: number;
}

/** Finds the files that may have a match. Throws a refusal if there are too many. */
async function findFiles(sent: Request, context: CoderContext): Promise<FoundFiles> {
  const { config, profile, deadline, caller, searcher, jail, maxAnswerBytes } = context;
  const candidates = candidateQuery(sent);
  const { max_read_bytes, max_write_bytes } = config;
  const fileLimit = fileLimitOf({ max_read_bytes, max_write_bytes, isMultiline: candidates.multiline });
  const { answer } = await searcher.search(
    {
      query: { ...candidates, ignoreCase: sent.ignore_case, word: sent.whole_word },
      lines: {
        maxLineBytes: config.max_read_bytes,
        ...encodingOptions(sent.encoding, context),
        linesBefore: 0,
        linesAfter: 0,
        every: false,
        mode: "files",
      },
      path: sent.path,
      mayBeFile: true,
      searchesGivenFile: true,
      ...parseGlobFields(sent, profile),
      fileNames: parseFileTypes(sent.file_types ?? []),
      otherFileNames: undefined,
      includesHidden: sent.include_hidden ?? true,
      ...folderFilterOf("search", sent, context),
      maxMatches: maxFiles + 1,
      maxFileBytes: fileLimit.max_bytes,
      content: true,
      paths: false,
      maxAnswerBytes,
      page: {
        maxBytes: Number.POSITIVE_INFINITY,
        milliseconds: undefined,
        after: undefined,
        seal: () => "",
        namesLeftOut: true,
        fileLimit,
      },
    },
    { deadline, caller },
    jail,
  );
  deadline.check();
  const { files = [], not_searched, unmatched_globs } = answer;
  if (files.length > maxFiles || answer.truncated) throw refuseReplacing.tooManyFiles(maxFiles);
  const found = files.map(({ path }) => path);
  const named = new Set<string>();
  const pause = pauseOf(context);
  for (const path of found) {
    if (!isUnsure(path) || isThere(path, jail.fromBase())) named.add(path);
    await pause();
  }
  return {
    files: [...named],
    unsure: found.filter(isUnsure).length,
    ...(not_searched && { not_searched }),
    ...(unmatched_globs && { unmatched_globs }),
  };
}

const isUnsure = (path: string): boolean => path.includes("\ufffd");

/** Returns whether an entry has this very path. */
function isThere(path: string, jail: CoderContext["jail"]): boolean {
  try {
    jail.resolveForRead(path)[Symbol.dispose]();
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/** Throws a refusal that names all read-only roots with matches, and the globs that leave them out. */
function requireWritableRoots(files: readonly string[], jail: Jail): void {
  if (!jail.hasTop) return;
  const inside = files.filter((path) => jail.isReadOnly(path));
  if (inside.length === 0) return;
  const readOnly = [...new Set(inside.map((path) => jail.rootOf(path)))];
  throw refuseReplacing.inReadOnlyRoots({ readOnly, files: inside.length, total: files.length });
}

/** Throws a refusal if the number of matches or files is not the expected one. */
function requireCounts(
  replaced: readonly FileReplacement[],
  { expect_files, expect_matches }: Request,
): void {
  const files = filesOf(replaced);
  const matches = replaced.reduce((sum, one) => sum + one.matches, 0);
  if (expect_files !== undefined && expect_files !== replaced.length)
    throw refuseReplacing.wrongCount("expect_files", {
      expected: expect_files,
      found: replaced.length,
      files,
    });
  if (expect_matches !== undefined && expect_matches !== matches)
    throw refuseReplacing.wrongCount("expect_matches", { expected: expect_matches, found: matches, files });
}

const filesOf = (replaced: readonly FileReplacement[]) =>
  replaced.map(({ matches, result }) => ({ path: result.path!, matches }));

/** Results that are measured in one step. */
const resultsPerStep = 64;

interface Shown {
  readonly files: ReplacedFile[];
  readonly results: (ChangeResult & { path: string })[];
  readonly not_replaced?: number;
}

/**
 * Returns the results, which show what was changed until that takes too many bytes. `unsure` is the number of
 * found files whose paths may not be theirs.
 */
function* shownOf(replaced: readonly FileReplacement[], unsure: number): Steps<Shown> {
  const budget = new JsonBudget(shownBytes, 0);
  const results: Shown["results"] = [];
  for (const { result } of replaced) {
    const { echoes, echoes_truncated, diff, diff_truncated, ...bare } = result;
    const isShown = budget.admit(jsonBytes(result) - jsonBytes(bare));
    results.push((isShown ? result : { ...bare, ...leaveOut(result) }) as ChangeResult & { path: string });
    if (results.length % resultsPerStep === 0) yield;
  }
  const left = unsure - replaced.filter(({ result }) => isUnsure(result.path!)).length;
  return { files: filesOf(replaced), results, ...(left > 0 && { not_replaced: left }) };
}

/** Returns the answer about a transaction that was carried out. */
async function committedOf(
  { value, transaction }: Done<readonly FileReplacement[]>,
  unsure: number,
  { profile }: Pick<CoderContext, "profile">,
) {
  return {
    committed: value.length > 0 || profile["replace.commits_nothing"],
    ...(await runInSlices(shownOf(value, unsure), createTimeSlice())),
    ...(transaction !== undefined && { transaction }),
  };
}

type Answer = Static<typeof response> & { readonly checkpoint?: number };

/** Renders an answer. Without the request, as for a committed plan, it leaves out the lines of each file. */
export function* renderReplaced(
  answer: Answer,
  sentence: Wording["sentence"],
  { answer: form = "none", ...sent }: Partial<Request> = {},
): Steps<string> {
  const { committed, files, results, transaction, plan, checkpoint, not_replaced: left = 0 } = answer;
  const isEmpty = files.length === 0 && left === 0;
  const matches = files.reduce((sum, one) => sum + one.matches, 0);
  const total = `${count(matches, "match", "matches")} in ${count(files.length, "file", "files")} ${committed ? "replaced" : "would be replaced"}`;
  const hidden = form === "none" ? [] : results.map((result, index) => hiddenOf(result, files[index]!));
  const lines = yield* renderEach(results, (result, index) =>
    renderResult(result, files[index]!, hidden[index]),
  );
  return yield* joinLines([
    ...(files.length === 0 ? [] : [total]),
    ...lines,
    ...renderHidden(hidden, matches, callForMore(answer, form)),
    ...(transaction === undefined || checkpoint !== undefined ? [] : [`transaction ${transaction}`]),
    ...(plan === undefined || files.length === 0 ? [] : [`plan ${plan}`]),
    ...(left === 0
      ? []
      : [
          `[not replaced: ${count(left, "file that matches", "files that match")}, with a name that is not UTF-8]`,
        ]),
    ...renderPage(answer, {
      isEmpty,
      hints: [
        ...(files.some(({ path }) => path === sent.path?.replace(/^(?:\.\/)+/, "")) ? hintsOnFile(sent) : []),
        ...(isEmpty ? hintsForReplacement(sent) : []),
      ],
      sentence,
    }),
    ...(meansEndsOfFile(sent)
      ? ["[^ and $ are the ends of each file; with (?m) before the query, those of each line]"]
      : []),
  ]);
}

/** The matches of a file whose lines are not shown. */
interface Hidden {
  /** The number of those that are known. */
  readonly matches: number;
  /** Whether a part of the lines that are shown is left out. */
  readonly isPart: boolean;
}

function hiddenOf(
  { echoes = [], echoes_truncated = false, diff = "", diff_truncated = false }: ReplaceResult,
  { matches }: ReplacedFile,
): Hidden {
  const isTruncated = echoes_truncated || diff_truncated;
  if (isTruncated && echoes.length === 0 && diff === "") return { matches, isPart: false };
  const beyond = diff === "" ? Math.max(0, matches - maxSites) : 0;
  return { matches: beyond, isPart: isTruncated };
}

/** Renders a file with its lines, or without them if `hidden` is `undefined`. */
function renderResult(result: ReplaceResult, { matches }: ReplacedFile, hidden: Hidden | undefined): string {
  const same = result.unchanged ? ", replaced by what was there already" : "";
  const head = `${renderPath(result.path)}: ${count(matches, "match", "matches")}${same}`;
  if (hidden === undefined) return head;
  if (hidden.matches === matches) return `${head}, not shown`;
  const isFirst = hidden.matches > 0 && !hidden.isPart;
  const edit = renderEdit({ ...result, applied: 1, new_line_count: result.new_line_count ?? 0 });
  const shown = runAtOnce(edit);
  return [isFirst ? `${head}; the first ${maxSites} are shown` : head, ...shown.split("\n").slice(1)].join(
    "\n",
  );
}

/** Renders a note on what is not shown, and on the call that shows it. */
function renderHidden(hidden: readonly Hidden[], matches: number, nextCall: string): string[] {
  const number = hidden.reduce((sum, file) => sum + file.matches, 0);
  const isPart = hidden.some((file) => file.isPart);
  if (number === 0 && !isPart) return [];
  const least = isPart ? "at least " : "";
  const left = number === 0 ? "some lines" : `${least}${number} of ${count(matches, "match", "matches")}`;
  return [`[not shown: ${left}; ${nextCall}]`];
}

/** Returns the call that shows more lines of a replacement. */
function callForMore({ committed, checkpoint }: Answer, form: Request["answer"]): string {
  if (committed && checkpoint === undefined) return "coder::read-file shows the files";
  if (committed) return `coder::checkpoints with "seq": ${checkpoint} and "answer": "diff" shows more`;
  const fewer = "fewer files by `path` or `include_globs`";
  return form === "diff" ? `send ${fewer}` : `send "answer": "diff", or ${fewer}`;
}

/** Returns hints at fields that might make the query match. */
function hintsForReplacement({
  query = "",
  regex = false,
  ignore_case = false,
  encoding,
}: Partial<Request>): string[] {
  const searched = { search_content: true, search_paths: true, multiline: true };
  return hintsFor({ query, regex, ignore_case, encoding, ...searched });
}

/** Returns whether the query has a `^` or `$` that matches at each line in a search, and not here. */
function meansEndsOfFile({ query = "", regex = false }: Partial<Request>): boolean {
  const bare = query.replace(/\\[\s\S]/g, "").replace(/\[\^?\]?[^\]]*\]/g, "");
  return regex && /[\^$]/.test(bare) && !/\(\?[a-zA-Z]*m/.test(bare);
}

const count = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`;
