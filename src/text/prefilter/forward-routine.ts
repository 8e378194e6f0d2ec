import {
  block,
  br,
  br_if,
  type Code,
  i32_add,
  i32_const,
  i32_eq,
  i32_ge_s,
  i32_gt_s,
  i32_load8_u,
  i32_load16_u,
  i32_lt_s,
  i32_shl,
  i32_store,
  i32_sub,
  if_,
  local_get,
  local_set,
  loop,
  type Routine,
  return_,
} from "../../base/wasm/assembly.ts";
import { layout } from "./layout.ts";
import { increment } from "./loops.ts";
import { findString, type StringKind, type StringLocals } from "./memmem-routine.ts";

const strings: StringLocals = {
  ...{ at: 0, end: 1, length: 2, pair: [3, 4] },
  ...{ last: 10, candidates: 11, start: 12, position: 13, vectors: 17 },
};
const { end, start } = strings;
const [budget, minMatch, minDead, dead, edgeColumn] = [5, 6, 7, 8, 9];
const [row, read, found] = [14, 15, 16];

const follow = (column: Code): Code => {
  const index = i32_add(local_get(row), column);
  return local_set(row, i32_load16_u(i32_shl(index, i32_const(1)), layout.forwardTransitions));
};

const columnOf = (address: Code): Code => i32_load8_u(i32_load8_u(address), layout.forwardClasses);

/** Sets `row` to the state in which a match starts at `start`. */
const begin: Code = [
  ...local_set(row, i32_const(0)),
  ...block(
    if_(i32_eq(local_get(start), i32_const(layout.text)), follow(local_get(edgeColumn)), br(1)),
    follow(columnOf(i32_sub(local_get(start), i32_const(1)))),
  ),
];

const setFound = if_(i32_lt_s(local_get(row), local_get(dead)), local_set(found, local_get(read)));

/**
 * Sets `found` to the end of the match, or leaves it unchanged. `read` is then the end of the text that was
 * read.
 */
const run: Code = block(
  loop(
    if_(i32_eq(local_get(read), local_get(end)), follow(local_get(edgeColumn)), setFound, br(2)),
    follow(columnOf(local_get(read))),
    if_(
      i32_ge_s(local_get(row), local_get(minMatch)),
      setFound,
      br_if(2, i32_ge_s(local_get(row), local_get(minDead))),
    ),
    increment(read, 1),
    br(0),
  ),
);

/** Subtracts the bytes read past the match from the budget. */
const pay: Code = [
  ...local_set(budget, i32_sub(local_get(budget), local_get(read))),
  ...block(
    if_(
      i32_gt_s(local_get(found), local_get(start)),
      local_set(budget, i32_add(local_get(budget), local_get(found))),
      br(1),
    ),
    local_set(budget, i32_add(local_get(budget), local_get(start))),
  ),
];

const writeBudget = i32_store(i32_const(layout.forwardMatch), local_get(budget), 4);

/**
 * forward_exact, forward_folded(at, end, length, first, second, budget, minMatch, minDead, dead, edgeColumn):
 * returns the start of the first match in [at, end) of a pattern that starts with the string, or -1. Returns
 * -2 at a start without a match once the DFA has read more than `budget` bytes after such starts and after
 * matches. Writes the end of the match and the remaining budget to `layout.forwardMatch`. The operands from
 * `minMatch` on belong to the DFA.
 */
export function forwardSearch(kind: StringKind): Routine {
  const verify = [
    ...[...local_set(found, i32_const(-1)), ...local_set(read, local_get(start))],
    ...[...begin, ...run, ...pay],
    ...if_(
      i32_ge_s(local_get(found), i32_const(0)),
      i32_store(i32_const(layout.forwardMatch), local_get(found), 0),
      writeBudget,
      return_(local_get(start)),
    ),
    ...if_(i32_lt_s(local_get(budget), i32_const(0)), writeBudget, return_(i32_const(-2))),
    ...br(2),
  ];
  const body = [...findString(kind, strings, verify), ...writeBudget, ...i32_const(-1)];
  return { name: `forward_${kind}`, parameters: 10, numbers: 7, vectors: 4, body };
}
