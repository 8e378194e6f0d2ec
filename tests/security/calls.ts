import type { PathAccess } from "../../src/calls/contract/definition.ts";
import { functions } from "../../src/coder/functions.ts";
import { type PathArgument, pathArgumentsOf } from "../harness/path-arguments.ts";
import type { Call, CallResult, EscapeCase } from "./escape-case.ts";

/** A path argument of a function, and the action of a call on it. */
export interface PathCall extends PathArgument {
  /** The column of an escape case that has the expected result, and the kind of its races. */
  readonly call: Call;
}

/** Matches the words of forbidden files, but does not contain them. */
const query = "(outside|denied).(secret|name)";

/** Changes to the examples of functions, so that nothing escapes the suites. */
const overrides: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "coder::tree": { max_depth: 20 },
  "coder::search": { query, regex: true },
  "coder::update-file": { ops: [{ op: "insert", at_line: 1, content: "new" }] },
  "coder::create-file": { content: "new" },
  "coder::replace": { query: "\\A", replacement: "new\n", regex: true },
  "coder::transact": { content: "new", ops: [{ op: "insert", at_line: 1, content: "new" }] },
};

const calls: Readonly<Record<PathAccess, Call>> = {
  read: "read",
  list: "list",
  write: "update",
  "write-tree": "update",
  create: "create",
  "create-tree": "overwrite",
  replace: "overwrite",
  remove: "delete",
  "remove-tree": "remove",
  move: "remove",
  copy: "remove",
  "change-mode": "update",
  "make-folder": "create",
  "make-folder-tree": "overwrite",
};

/** Functions that list, but have races of their own. */
const named: Readonly<Record<string, Call>> = { "coder::tree": "tree", "coder::search": "search" };

/** All path arguments of the worker's functions, from their definitions. */
export const pathCalls: readonly PathCall[] = pathArgumentsOf(functions, overrides).map((argument) => ({
  ...argument,
  call: named[argument.id] ?? calls[argument.access],
}));

/** Returns the expected result of such a call on an escape case. */
export function expectedResult(escapeCase: EscapeCase, { call, access, id }: PathCall): CallResult {
  const { expected, makeFolder, copy } = escapeCase;
  // Goes on from a folder to the files in it.
  if (id === "coder::replace" && expected.list === "ok") return "ok";
  if (id === "coder::apply-patch" && access === "list") return escapeCase.below ?? expected.list;
  const isPatched = id === "coder::apply-patch";
  // A patch is about files, and must contain what it replaces.
  if (isPatched && (expected.list === "ok" || (access === "create-tree" && expected.create === "C217")))
    return "C210";
  if (access === "make-folder" || access === "make-folder-tree") {
    if (expected.list === "ok") return "nothing";
    return makeFolder ?? (expected.create === "C217" ? "C217" : expected[call]);
  }
  // A folder has a mode as well, but the base keeps its own.
  if (access === "change-mode" && expected.list === "ok") return escapeCase.changeMode ?? "ok";
  const result = (access === "copy" ? copy : undefined) ?? expected[call];
  // No file of the tree contains a patch.
  if (isPatched && access === "read" && result === "ok") return "C210";
  // A patch changes regular files only: no undo can restore a FIFO.
  if (isPatched && expected.read === "C210" && result === "ok") return "C210";
  const mustExist = access === "move" || access === "copy" || (isPatched && access === "remove");
  return mustExist && result === "nothing" ? "C211" : result;
}
