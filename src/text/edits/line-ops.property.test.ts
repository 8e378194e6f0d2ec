import { expect, test } from "bun:test";
import fc from "fast-check";
import { apply, bom, insert, latin1, remove, update } from "./edits.test-kit.ts";
import type { LineOp } from "./line-ops.ts";
import { countLines } from "./lines.ts";

/** A line and its ending. Only the last line of a file may have none. */
type Line = readonly [text: string, ending: string];

const lineText = fc
  .array(fc.constantFrom("a", "b", "\r", "\0", "\xff", "\xc3", "\xa9", "\u2028"), { maxLength: 3 })
  .map(
    // A "\r" before the ending would be a part of it.
    (characters) => Buffer.from(characters.join("")).toString("latin1").replace(/\r+$/, ""),
  );
const ending = fc.constantFrom("\n", "\r\n");
const file = fc
  .record({
    bom: fc.constantFrom("", bom),
    closed: fc.array(fc.tuple(lineText, ending), { maxLength: 8 }),
    open: fc.option(
      lineText.filter((text) => text !== ""),
      { nil: undefined },
    ),
  })
  .map(({ bom, closed, open }) => ({
    bom,
    lines: [...closed, ...(open === undefined ? [] : [[open, ""] as const])] as readonly Line[],
  }));

const bodyOf = ({ bom, lines }: { bom: string; lines: readonly Line[] }) =>
  latin1(bom + lines.map(([text, end]) => text + end).join(""));

const newLines = fc.array(fc.constantFrom("", "x", "yy", "z\rz"), { minLength: 1, maxLength: 3 });

/**
 * Generates ops that do not overlap, for a file of `lines` lines: each line is kept, replaced, removed or
 * inserted before.
 */
const opsFor = (lines: number) =>
  fc
    .array(
      fc.record({
        kind: fc.constantFrom("keep", "keep", "insert", "remove", "update"),
        length: fc.nat(2),
        put: newLines,
      }),
      {
        minLength: lines + 1,
        maxLength: lines + 1,
      },
    )
    .map((choices) => {
      const ops: { op: LineOp; put: string[] }[] = [];
      for (let line = 1; line <= lines + 1; line += 1) {
        const { kind, length, put } = choices[line - 1]!;
        const content = put.join("\n");
        // The last break may be left out, unless it is all that the last line has.
        const mayEndOpen = length === 0 && put.at(-1) !== "";
        if (kind === "insert") ops.push({ op: insert(line, mayEndOpen ? content : `${content}\n`), put });
        if (line > lines || kind === "keep" || kind === "insert") continue;
        const to = Math.min(lines, line + length);
        ops.push(
          kind === "remove"
            ? { op: remove(line, to), put: [] }
            : { op: update(line, to, `${content}\n`), put },
        );
        line = to;
      }
      return ops;
    });

const fileAndOps = file.chain((of) => fc.record({ of: fc.constant(of), ops: opsFor(of.lines.length) }));

/** Makes the same edits on an array of lines, one by one from the bottom up. */
function model(lines: readonly Line[], ops: readonly { op: LineOp; put: string[] }[]): Line[] {
  const crlf = lines.filter(([, end]) => end === "\r\n").length;
  const prevailing = crlf > lines.filter(([, end]) => end === "\n").length ? "\r\n" : "\n";
  const after = [...lines];
  for (const { op, put } of ops.toReversed()) {
    const at = op.op === "insert" ? op.at_line : op.from_line;
    const gone = op.op === "insert" ? 0 : op.to_line - op.from_line + 1;
    after.splice(at - 1, gone, ...put.map((text): Line => [text, prevailing]));
  }
  const open = lines.at(-1)?.[1] === "";
  return after.map(([text, end], i): Line => {
    if (i < after.length - 1) return [text, end || prevailing];
    return open && text !== "" ? [text, ""] : [text, end || prevailing];
  });
}

test("line ops do what they do to an array of lines", () => {
  fc.assert(
    fc.property(fileAndOps, ({ of, ops }) => {
      fc.pre(of.lines.length > 0);
      const after = apply(
        bodyOf(of),
        ops.map(({ op }) => op),
      );
      const lines = model(of.lines, ops);
      expect(after.toString("latin1")).toBe(bodyOf({ bom: of.bom, lines }).toString("latin1"));
      expect(countLines(after)).toBe(lines.length);
    }),
    { numRuns: 1000 },
  );
});

test("the order of the ops does not matter", () => {
  fc.assert(
    fc.property(fileAndOps, fc.nat(), ({ of, ops }, turn) => {
      const list = ops.map(({ op }) => op);
      const middle = turn % (list.length + 1);
      const turned = [...list.slice(middle), ...list.slice(0, middle)].reverse();
      expect(apply(bodyOf(of), turned)).toEqual(apply(bodyOf(of), list));
    }),
  );
});

test("no byte outside the lines named changes", () => {
  const named = file
    .filter(({ lines }) => lines.length > 0)
    .chain((of) =>
      fc.record({ of: fc.constant(of), first: fc.integer({ min: 1, max: of.lines.length }), put: newLines }),
    );
  fc.assert(
    fc.property(named, ({ of, first, put }) => {
      const before = bodyOf({ bom: of.bom, lines: of.lines.slice(0, first - 1) });
      const behind = bodyOf({ bom: "", lines: of.lines.slice(first) });
      const after = apply(bodyOf(of), [update(first, first, `${put.join("\n")}\n`)]);
      expect(after.subarray(0, before.length)).toEqual(before);
      expect(after.subarray(after.length - behind.length)).toEqual(behind);
    }),
  );
});

test("what was inserted can be removed again", () => {
  const place = file.chain((of) =>
    fc.record({ of: fc.constant(of), at: fc.integer({ min: 1, max: of.lines.length + 1 }), put: newLines }),
  );
  fc.assert(
    fc.property(place, ({ of, at, put }) => {
      // An empty line at the end needs an ending, so a file without one cannot be restored.
      fc.pre(of.lines.at(-1)?.[1] !== "" || put.at(-1) !== "");
      const body = bodyOf(of);
      const longer = apply(body, [insert(at, `${put.join("\n")}\n`)]);
      expect(countLines(longer)).toBe(of.lines.length + put.length);
      expect(apply(longer, [remove(at, at + put.length - 1)])).toEqual(body);
    }),
  );
});
