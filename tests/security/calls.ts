import { functions } from "../../src/coder/functions.ts";
import type { PathAccess } from "../../src/contract/definition.ts";
import { type Way as WayOfFunction, waysOf } from "../harness/ways.ts";
import type { Call, EscapeCase, Verdict } from "./escape-case.ts";

/** A way to bring a function to act on a path. */
export interface Way extends WayOfFunction {
  /** The column of an escape case that says how it ends, and the cells of the races that it is in. */
  readonly call: Call;
}

/** Finds the words of forbidden files, without being one. */
const query = "(outside|denied).(secret|name)";

/** What an example of a function has to be changed in, so that nothing escapes the suites. */
const particulars: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "coder::tree": { max_depth: 20 },
  "coder::search": { query, regex: true },
  "coder::update-file": { ops: [{ op: "insert", at_line: 1, content: "new" }] },
  "coder::create-file": { content: "new" },
};

const calls: Readonly<Record<PathAccess, Call>> = {
  read: "read",
  list: "list",
  write: "update",
  "write-tree": "update",
  create: "create",
  replace: "overwrite",
  remove: "delete",
  "remove-tree": "remove",
  move: "remove",
};

/** These list, and are raced for themselves. */
const named: Readonly<Record<string, Call>> = { "coder::tree": "tree", "coder::search": "search" };

/** All ways to call the functions of the worker, as their definitions tell. */
export const ways: readonly Way[] = waysOf(functions, particulars).map((way) => ({
  ...way,
  call: named[way.id] ?? calls[way.access],
}));

/** How such a call ends on an escape case. */
export function verdictOn({ answers }: EscapeCase, { call, access }: Way): Verdict {
  return access === "move" && answers[call] === "nothing" ? "C211" : answers[call];
}
