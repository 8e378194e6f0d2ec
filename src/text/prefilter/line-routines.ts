import {
  block,
  br,
  br_if,
  type Code,
  i8x16_bitmask,
  i8x16_eq,
  i8x16_splat,
  i32_add,
  i32_and,
  i32_clz,
  i32_const,
  i32_ctz,
  i32_eq,
  i32_ge_s,
  i32_gt_s,
  i32_load8_u,
  i32_load16_u,
  i32_lt_s,
  i32_popcnt,
  i32_shl,
  i32_store,
  i32_sub,
  if_,
  local_get,
  local_set,
  loop,
  type Routine,
  return_,
  v128_load,
} from "../../base/wasm/assembly.ts";
import { layout } from "./layout.ts";
import { increment } from "./loops.ts";

/** Returns code that adds the number of newlines in [at, end) to `sum`, and advances `at`. */
function count({ at, end, sum, newlines }: { at: number; end: number; sum: number; newlines: number }): Code {
  const found = (offset: number) =>
    i8x16_bitmask(i8x16_eq(v128_load(local_get(at), offset), local_get(newlines)));
  const ofEnd = i32_sub(i32_shl(i32_const(1), i32_sub(local_get(end), local_get(at))), i32_const(1));
  const counted = (bits: Code) => local_set(sum, i32_add(local_get(sum), i32_popcnt(bits)));
  const countBy = (step: number) =>
    block(
      loop(
        br_if(1, i32_gt_s(i32_add(local_get(at), i32_const(step)), local_get(end))),
        ...Array.from({ length: step / 16 }, (_, index) => counted(found(16 * index))),
        increment(at, step),
        br(0),
      ),
    );
  return [
    ...countBy(64),
    ...countBy(16),
    ...if_(i32_lt_s(local_get(at), local_get(end)), counted(i32_and(found(0), ofEnd))),
  ];
}

/**
 * line_bounds(from, hit, counted): writes three numbers to `layout.lineBounds`: the start of the line that
 * contains `hit`, but not before `from`; the newline at its end; and the number of newlines between `counted`
 * and the start. Returns the start.
 */
export function lineBounds(): Routine {
  const [from, hit, counted, at, start, bits, sum] = [0, 1, 2, 3, 4, 5, 6];
  const newlines = 7;
  const compare = local_set(bits, i8x16_bitmask(i8x16_eq(v128_load(local_get(at)), local_get(newlines))));
  const write = (index: number, value: Code) => i32_store(i32_const(layout.lineBounds), value, 4 * index);
  const body = [
    ...local_set(newlines, i8x16_splat(i32_const(0x0a))),
    ...local_set(at, local_get(hit)),
    ...local_set(start, local_get(from)),
    ...block(
      loop(
        br_if(1, i32_ge_s(local_get(from), local_get(at))),
        increment(at, -16),
        compare,
        // A newline before `from` does not count.
        if_(
          local_get(bits),
          local_set(bits, i32_sub(i32_add(local_get(at), i32_const(32)), i32_clz(local_get(bits)))),
          if_(i32_gt_s(local_get(bits), local_get(from)), local_set(start, local_get(bits))),
          br(2),
        ),
        br(0),
      ),
    ),
    ...local_set(at, local_get(hit)),
    ...block(loop(compare, br_if(1, local_get(bits)), increment(at, 16), br(0))),
    ...write(0, local_get(start)),
    ...write(1, i32_add(local_get(at), i32_ctz(local_get(bits)))),
    ...count({ at: counted, end: start, sum, newlines }),
    ...write(2, local_get(sum)),
    ...local_get(start),
  ];
  return { name: "line_bounds", parameters: 3, numbers: 4, vectors: 1, body };
}

/**
 * match_line(from, end, minMatch, startColumn): runs the DFA backward over the line [from, end). Returns the
 * start of the first match, -1 without one, -2 if the line is not ASCII. `minMatch` and `startColumn` belong
 * to the DFA.
 */
export function matchLine(): Routine {
  const [from, end, minMatch, startColumn] = [0, 1, 2, 3];
  const [at, row, found] = [4, 5, 6];
  const follow = (column: Code) =>
    local_set(row, i32_load16_u(i32_shl(i32_add(local_get(row), column), i32_const(1)), layout.transitions));
  const body = [
    ...local_set(found, i32_const(-1)),
    ...local_set(at, local_get(end)),
    ...block(
      loop(
        br_if(1, i32_eq(local_get(at), local_get(from))),
        increment(at, -1),
        follow(i32_load8_u(i32_load8_u(local_get(at)), layout.classes)),
        if_(
          i32_ge_s(local_get(row), local_get(minMatch)),
          if_(i32_eq(local_get(row), i32_const(layout.nonAscii)), return_(i32_const(-2))),
          local_set(found, i32_add(local_get(at), i32_const(1))),
        ),
        br(0),
      ),
    ),
    ...follow(local_get(startColumn)),
    ...if_(i32_ge_s(local_get(row), local_get(minMatch)), return_(local_get(from))),
    ...local_get(found),
  ];
  return { name: "match_line", parameters: 4, numbers: 3, vectors: 0, body };
}
