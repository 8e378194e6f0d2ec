import type { PathAccess } from "../../src/calls/contract/definition.ts";
import { functions } from "../../src/coder/functions.ts";
import { type PathArgument, pathArgumentsOf } from "../harness/path-arguments.ts";
import type { Call, CallResult, EscapeCase } from "./escape-case.ts";

/** A path argument of a function, and what a call does with it. */
export interface PathCall extends PathArgument {
  /** The column of an escape case that says how it ends, and the cells of the races that it is in. */
  readonly call: Call;
}

/** Finds the words of forbidden files, without being one. */
const query = "(outside|denied).(secret|name)";

/** What an example of a function has to be changed in, so that nothing escapes the suites. */
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

/** These list, and are raced for themselves. */
const named: Readonly<Record<string, Call>> = { "coder::tree": "tree", "coder::search": "search" };

/** All path arguments of the functions of the worker, by their definitions. */
export const pathCalls: readonly PathCall[] = pathArgumentsOf(functions, overrides).map((argument) => ({
  ...argument,
  call: named[argument.id] ?? calls[argument.access],
}));

/** How such a call ends on an escape case. */
export function expectedResult(escapeCase: EscapeCase, { call, access, id }: PathCall): CallResult {
  const { expected, makeFolder, copy } = escapeCase;
  // A patch is about files, and names what it replaces.
  // It goes on from a folder to what is in it.
  if (id === "coder::replace" && expected.list === "ok") return "ok";
  if (id === "coder::apply-patch" && access === "list") return escapeCase.below ?? expected.list;
  const isPatched = id === "coder::apply-patch";
  if (isPatched && (expected.list === "ok" || (access === "create-tree" && expected.create === "C217")))
    return "C210";
  if (access === "make-folder" || access === "make-folder-tree") {
    if (expected.list === "ok") return "nothing";
    return makeFolder ?? (expected.create === "C217" ? "C217" : expected[call]);
  }
  // A folder has a mode as well; the base keeps its own.
  if (access === "change-mode" && expected.list === "ok") return escapeCase.changeMode ?? "ok";
  const result = (access === "copy" ? copy : undefined) ?? expected[call];
  // A file with a patch: those in the tree have none.
  if (isPatched && access === "read" && result === "ok") return "C210";
  // A patch changes regular files only: no undo makes a FIFO again.
  if (isPatched && expected.read === "C210" && result === "ok") return "C210";
  const mustExist = access === "move" || access === "copy" || (isPatched && access === "remove");
  return mustExist && result === "nothing" ? "C211" : result;
}
