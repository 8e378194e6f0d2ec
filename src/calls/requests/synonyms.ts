/**
 * Names that other tool sets have for the same fields. The reference page of arguments is made from these
 * tables.
 */

const pathNames = [
  "file_path",
  "filename",
  "file_name",
  "filepath",
  "pathname",
  "file",
  "target_file",
  "absolute_path",
  "relative_path",
  "dir",
  "dir_path",
  "directory",
  "directory_path",
  "folder",
  "folder_path",
  "target_directory",
];

/**
 * For each name of this project, the names under which other tool sets have a field of exactly the same
 * meaning.
 */
export const synonyms: Readonly<Record<string, readonly string[]>> = {
  path: pathNames,
  paths: [...pathNames, "path", "file_paths", "filenames", "files", "directories", "folders"],
  from: ["source", "source_path", "src", "old_path", "from_path"],
  to: ["destination", "destination_path", "dest", "dst", "target", "new_path", "to_path"],
  src: ["source", "source_path", "from", "old_path"],
  dst: ["destination", "destination_path", "dest", "to", "new_path"],
  content: ["contents", "file_content", "file_text", "text"],
  ops: ["edits", "operations"],
  changes: ["operations"],
  old_str: ["old_string", "old_text", "oldtext", "old"],
  new_str: ["new_string", "new_text", "newtext", "new"],
  replace_all: ["replace_all_occurrences"],
  patch: ["diff", "patch_text", "input"],
  query: ["search_query", "search_term", "search", "find", "q"],
  ignore_case: ["case_insensitive", "-i"],
  invert: ["invert_match", "-v"],
  whole_word: ["word", "whole_words", "word_regexp", "-w"],
  max_matches: ["max_results"],
  context_lines_after: ["-A", "lines_after", "context_after", "after_context"],
  context_lines_before: ["-B", "lines_before", "context_before", "before_context"],
  max_depth: ["depth"],
  line_from: ["from_line"],
  line_to: ["to_line"],
  from_line: ["line_from"],
  to_line: ["line_to"],
  numbered: ["line_numbers", "show_line_numbers", "-n"],
  include_hidden: ["show_hidden"],
  dry_run: ["dryrun"],
  plan: ["plan_id"],
  seq: ["checkpoint", "checkpoint_id"],
  transaction: ["transaction_id"],
  parents: ["create_dirs", "create_directories", "create_parents", "make_parents"],
  mode: ["permissions"],
  command: ["cmd", "command_line"],
  args: ["arguments"],
  cwd: ["workdir", "working_dir", "working_directory"],
  env: ["environment"],
  stdin: ["input"],
  job_id: ["id", "job", "task_id"],
};

/** For each word that a field may choose, the words that mean exactly the same elsewhere. */
export const valueSynonyms: Readonly<Record<string, readonly string[]>> = {
  files: ["files_with_matches"],
  counts: ["count"],
  delete: ["remove", "rm"],
  move: ["rename", "mv"],
  copy: ["cp"],
  update: ["edit"],
  "make-folder": ["mkdir", "create_directory", "create_folder"],
};

/** Names that resemble a field but mean something else. They are never accepted, but answered with advice. */
export interface OtherField {
  readonly names: readonly string[];
  /** The field that a request must have for the advice to apply. */
  readonly field: string;
  /** The value that the refusal recommends, after "send". */
  readonly send: string;
}

/** Field names for lines that no op has. */
const lineNames = [
  ...["line", "lines", "line_number", "insert_line", "after_line", "view_range", "line_range"],
  ...["start", "start_line", "line_start", "end", "end_line", "line_end"],
];

export const otherFields: readonly OtherField[] = [
  {
    names: ["path"],
    field: "from",
    send: "`from`, the path as it is, and `to`, the new one",
  },
  {
    names: ["offset", "limit", "start", "end", "start_line", "end_line", "line_start", "line_end"],
    field: "line_from",
    send: "`line_from` and `line_to`, the first and the last line, counted from 1",
  },
  {
    names: ["view_range", "line_range", "lines", "range", "line"],
    field: "line_from",
    send: "`line_from` and `line_to`, the first and the last line, counted from 1",
  },
  {
    names: ["head", "max_lines", "first_lines"],
    field: "line_from",
    send: "`line_to`: the last line to read",
  },
  {
    names: ["last", "last_lines"],
    field: "tail",
    send: "`tail`: how many lines from the end",
  },
  {
    names: ["start_line", "end_line", "line", "start", "end", "view_range", "line_range"],
    field: "from_line",
    send: "`from_line` and `to_line`, counted from 1, both of them included",
  },
  {
    names: ["insert_line", "line", "line_number", "after_line"],
    field: "at_line",
    send: "an op `insert` with `at_line`: the line before which the text goes, counted from 1",
  },
  {
    names: lineNames,
    field: "old_str",
    send: "more of the text around it in `old_str`, so that it occurs once, or an op `update_lines` with `from_line` and `to_line` to replace lines by number",
  },
  {
    names: lineNames,
    field: "dot_matches_newline",
    send: "a `pattern` that matches only there, or an op `update_lines` with `from_line` and `to_line` to replace lines by number",
  },
  {
    names: ["glob", "globs", "include", "includes", "file_pattern", "include_pattern", "include_patterns"],
    field: "include_globs",
    send: '`include_globs`, an array of globs, such as ["src/**/*.ts"]',
  },
  {
    names: ["paths", "files", "file_paths"],
    field: "include_globs",
    send: '`include_globs`, an array of paths and globs, such as ["README.md", "src/**"]',
  },
  {
    names: ["exclude", "excludes", "exclude_pattern", "exclude_patterns", "ignore"],
    field: "exclude_globs",
    send: '`exclude_globs`, an array of globs, such as ["dist/**"]',
  },
  {
    names: ["pattern", "regexp", "re"],
    field: "query",
    send: "`query`, and `regex`: true if it is a regular expression",
  },
  {
    names: ["glob", "globs", "include", "includes"],
    field: "include_glob",
    send: '`include_glob`, an array of globs, such as ["*.ts"]',
  },
  { names: ["exclude", "excludes"], field: "exclude_glob", send: "`exclude_glob`, an array of globs" },
  { names: ["query", "regex"], field: "pattern", send: "`pattern`, a regular expression" },
  {
    names: ["type", "types", "file_type", "language"],
    field: "file_types",
    send: '`file_types`, such as ["ts"]',
  },
  { names: ["output_mode"], field: "mode", send: '`mode`: "content", "files" or "counts"' },
  { names: ["case_sensitive", "match_case"], field: "ignore_case", send: "`ignore_case`: true or false" },
  {
    names: ["-C", "context", "context_lines"],
    field: "context_lines_before",
    send: "`context_lines_before` and `context_lines_after`",
  },
  { names: ["limit", "head_limit", "max_count"], field: "max_matches", send: "`max_matches`" },
  { names: ["limit", "per_page"], field: "page_size", send: "`page_size`" },
  { names: ["offset", "start", "cursor"], field: "page", send: "`page`, counted from 1, and `page_size`" },
  { names: ["offset"], field: "cursor", send: "`cursor`: from the end of the answer before" },
  {
    names: ["timeout", "timeout_seconds", "timeout_sec"],
    field: "timeout_ms",
    send: "`timeout_ms`, in milliseconds",
  },
  {
    names: ["expected_replacements", "count"],
    field: "expect_matches",
    send: "`expect_matches`, how often the text has to be there, with `replace_all`: true if that is more than once",
  },
  { names: ["allow_multiple", "all"], field: "replace_all", send: "`replace_all`: true" },
  { names: ["append"], field: "overwrite", send: "an op `insert` of coder::update-file to add to a file" },
];

/**
 * Fields, by function, in which 0 counts as not sent: taken literally, a call would return nothing, or be
 * refused. For an integer with a minimum of 1 this holds without an entry.
 */
export const zeroIsAbsent: Readonly<Record<string, readonly string[]>> = {
  "coder::tree": ["max_bytes", "max_nodes", "per_folder_limit"],
  "coder::list-folder": ["page", "page_size"],
  "coder::read-file": ["max_output_bytes"],
  "coder::search": ["deadline_ms", "max_bytes", "max_file_bytes", "max_line_bytes", "max_matches"],
  "coder::checkpoints": ["before_seq", "limit", "max_diff_bytes"],
  "coder::changes": ["limit", "max_diff_bytes"],
  "shell::exec": ["max_output_bytes", "timeout_ms"],
  "shell::exec_bg": ["max_output_bytes", "timeout_ms"],
  "shell::fs::ls": ["page", "page_size"],
};

/** Fields that hold the number of a checkpoint, which may be sent as answers write it: `#12`. */
export const checkpointFields: ReadonlySet<string> = new Set(["before_seq", "checkpoint", "seq"]);

/** Texts that stand for a required field that was left out, by field. */
export const whenLeftOut: Readonly<Record<string, string>> = { new_str: "", query: "" };
