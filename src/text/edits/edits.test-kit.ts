/** Ops and files for the tests of line ops. */
import { strictEqual } from "node:assert/strict";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { applyLineOps, type LineOp } from "./line-ops.ts";
import { countLines } from "./lines.ts";

export const insert = (at_line: number, content: string): LineOp => ({ op: "insert", at_line, content });
export const remove = (from_line: number, to_line: number): LineOp => ({ op: "remove", from_line, to_line });
export const update = (from_line: number, to_line: number, content: string): LineOp => ({
  op: "update_lines",
  from_line,
  to_line,
  content,
});

/** Encodes a text as Latin-1, so that a table can contain any bytes. */
export const latin1 = (text: string) => Buffer.from(text, "latin1");

/** Applies the ops, checks the count of lines, and returns the file. */
export function apply(body: Buffer, ops: LineOp[]): Buffer {
  const { parts, lines } = runAtOnce(applyLineOps(body, ops));
  const after = Buffer.concat(parts);
  strictEqual(lines, countLines(after));
  return after;
}

export const edited = (body: string, ...ops: LineOp[]) => apply(latin1(body), ops).toString("latin1");

export const bom = "\xef\xbb\xbf";
