import { describe, expect, test } from "bun:test";
import { Refusal } from "../../base/errors.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { bom, edited, insert, latin1, remove, update } from "./edits.test-kit.ts";
import { applyLineOps, type LineOp } from "./line-ops.ts";

function refusal(body: string, ...ops: Parameters<typeof applyLineOps>[1]): string {
  try {
    runAtOnce(applyLineOps(latin1(body), ops));
  } catch (error) {
    expect(error).toBeInstanceOf(Refusal);
    expect((error as Refusal).reason).toBe("bad-input");
    return (error as Refusal).message;
  }
  throw new Error("the ops were applied");
}

describe("line ops", () => {
  test.each<[what: string, body: string, ops: LineOp[], after: string]>([
    ["insert before the first line", "a\nb\n", [insert(1, "x")], "x\na\nb\n"],
    ["insert in the middle", "a\nb\n", [insert(2, "x\ny")], "a\nx\ny\nb\n"],
    ["append", "a\nb\n", [insert(3, "x")], "a\nb\nx\n"],
    ["remove the first", "a\nb\n", [remove(1, 1)], "b\n"],
    ["remove a range", "a\nb\nc\nd\n", [remove(2, 3)], "a\nd\n"],
    ["remove all", "a\nb\n", [remove(1, 2)], ""],
    ["update one", "a\nb\nc\n", [update(2, 2, "x")], "a\nx\nc\n"],
    ["update with more lines", "a\nb\nc\n", [update(2, 2, "x\ny\nz")], "a\nx\ny\nz\nc\n"],
    ["update with fewer", "a\nb\nc\n", [update(1, 3, "x")], "x\n"],
    [
      "several, in any order, by the numbers of the file as it was",
      "1\n2\n3\n4\n5\n",
      [update(4, 4, "d\nD"), remove(2, 2), insert(6, "f"), insert(1, "z")],
      "z\n1\n3\nd\nD\n5\nf\n",
    ],
    [
      "ops on lines side by side",
      "1\n2\n3\n",
      [remove(1, 1), insert(2, "x"), update(3, 3, "c")],
      "x\n2\nc\n",
    ],
    ["no ops", "a\r\nb", [], "a\r\nb"],

    ["content with a break at its end", "a\n", [insert(2, "x\n")], "a\nx\n"],
    ["content with two", "a\n", [insert(2, "x\n\n")], "a\nx\n\n"],
    ["a break is one empty line", "a\nb\n", [insert(2, "\n")], "a\n\nb\n"],
    ["empty content is no line", "a\nb\n", [insert(2, "")], "a\nb\n"],
    ["empty content in the place of lines takes them away", "a\nb\nc\n", [update(1, 2, "")], "c\n"],
    ["so is a single break", "a\nb\n", [insert(2, "\n")], "a\n\nb\n"],
    ["an empty line in the place of two", "a\nb\nc\n", [update(1, 2, "\n")], "\nc\n"],
    ["content with mixed breaks", "a\n", [insert(1, "x\r\ny\nz\r\n")], "x\ny\nz\na\n"],
    ["a lone carriage return is no break", "a\rb\nc\n", [insert(2, "x\ry")], "a\rb\nx\ry\nc\n"],
    ["content beyond ASCII", "a\n", [update(1, 1, "é😀")], "\xc3\xa9\xf0\x9f\x98\x80\n"],

    ["CRLF", "a\r\nb\r\n", [update(2, 2, "x\ny")], "a\r\nx\r\ny\r\n"],
    ["mostly CRLF", "a\r\nb\nc\r\n", [insert(2, "x")], "a\r\nx\r\nb\nc\r\n"],
    ["mostly LF", "a\nb\nc\r\n", [update(1, 1, "x"), remove(2, 2)], "x\nc\r\n"],
    ["as many of each", "a\r\nb\n", [insert(1, "x")], "x\na\r\nb\n"],
    ["no ending at all", "a", [insert(1, "x\r\ny")], "x\ny\na"],
    ["lone carriage returns are no endings", "a\rb\rc", [update(1, 1, "x\ny")], "x\ny"],

    ["append without a final newline", "a\nb", [insert(3, "c")], "a\nb\nc"],
    ["append with one in the content", "a\r\nb", [insert(3, "c\n")], "a\r\nb\r\nc"],
    ["update the open last line", "a\nb", [update(2, 2, "x\ny\n")], "a\nx\ny"],
    ["remove it", "a\r\nb", [remove(2, 2)], "a"],
    ["remove everything with it", "a\nb", [remove(1, 2)], ""],
    ["remove it, and append", "a\nb", [remove(2, 2), insert(3, "c")], "a\nc"],
    ["insert before it", "a\nb", [insert(2, "x")], "a\nx\nb"],
    ["edit elsewhere", "a\nb\nc", [update(1, 1, "x")], "x\nb\nc"],
    ["an empty line that becomes the last keeps its ending", "a\n\nb", [remove(3, 3)], "a\n\n"],
    ["an empty line put last has one", "a", [insert(2, "\n")], "a\n\n"],
    ["an empty line put last after others", "a", [update(1, 1, "x\n\n")], "x\n\n"],
    ["an open line that ends in a carriage return", "a\r", [insert(1, "x")], "x\na\r"],
    ["a content line that ends in one", "a\nb", [update(2, 2, "x\r")], "a\nx\r"],

    ["an empty file", "", [insert(1, "x")], "x"],
    ["an empty file and a break", "", [insert(1, "x\r\ny\n")], "x\ny\n"],
    ["an empty file and an empty line", "", [insert(1, "\n")], "\n"],
    ["an empty file and nothing", "", [insert(1, "")], ""],
    ["a file of one empty line", "\n", [insert(2, "x")], "\nx\n"],
    ["that line updated", "\r\n", [update(1, 1, "x")], "x\r\n"],

    ["the mark before an inserted line", `${bom}a\n`, [insert(1, "x")], `${bom}x\na\n`],
    ["before an updated line", `${bom}a\r\nb`, [update(1, 1, "x")], `${bom}x\r\nb`],
    ["before removed lines", `${bom}a\nb\n`, [remove(1, 2)], bom],
    ["not doubled by the content", `${bom}a\n`, [update(1, 1, "\ufeffx")], `${bom}x\n`],
    ["nor taken from other lines", `${bom}a\n`, [insert(2, "\ufeffx")], `${bom}a\n${bom}x\n`],
    ["put in where there was none", "a\n", [update(1, 1, "\ufeffx")], `${bom}x\n`],
    ["a file of a mark alone has no lines", bom, [insert(1, "x\n")], `${bom}x\n`],

    ["bytes that are not UTF-8", "\xff\xfe\n\x80\n\xc3", [update(2, 2, "x")], "\xff\xfe\nx\n\xc3"],
    ["NUL bytes", "\0\0\n\0\n", [insert(2, "\0")], "\0\0\n\0\n\0\n"],
    ["UTF-16, byte by byte", "\xff\xfea\0\n\0b\0\n\0", [remove(2, 2)], "\xff\xfea\0\n\0"],
  ])("%s", (_, body, ops, after) => {
    expect(edited(body, ...ops)).toBe(after);
  });

  test("copy nothing of a file but the lines that are put in", () => {
    const body = latin1("a\nb\nc\n");
    const { parts } = runAtOnce(applyLineOps(body, [update(2, 2, "x")]));
    expect(parts.map((part) => part.toString())).toEqual(["a\n", "x\n", "c\n"]);
    expect(parts.map((part) => part.buffer === body.buffer)).toEqual([true, false, true]);
    expect(body.toString()).toBe("a\nb\nc\n");
  });

  test("count no line in a mark alone", () => {
    expect(runAtOnce(applyLineOps(latin1("a"), [update(1, 1, "\ufeff")])).lines).toBe(0);
    expect(runAtOnce(applyLineOps(latin1("a\n"), [update(1, 1, "\ufeff")])).lines).toBe(1);
  });
});

describe("ops that cannot be applied are named, with the lines there are and what to send", () => {
  test.each<[body: string, ops: LineOp[], sentence: string]>([
    [
      "a\nb\n",
      [insert(0, "x")],
      'ops[0] inserts at line 0 and the file has 2 lines; send an "at_line" from 1 to 3, where 3 appends.',
    ],
    ["a\nb", [insert(4, "x")], "ops[0] inserts at line 4 and the file has 2 lines"],
    ["", [insert(2, "x")], 'the file has no lines; send an "at_line" from 1 to 1, where 1 appends.'],
    ["a\nb\n", [insert(1.5, "x")], "ops[0] inserts at line 1.5 and"],
    [
      "a",
      [remove(1, 2)],
      "ops[0] covers lines 1 to 2 and the file has 1 line; send 1 <= from_line <= to_line <= 1.",
    ],
    ["a\nb\n", [remove(0, 1)], "ops[0] covers lines 0 to 1 and"],
    ["a\nb\n", [remove(3, 3)], "ops[0] covers lines 3 to 3 and the file has 2 lines"],
    ["a\nb\n", [update(2, 1, "x")], "ops[0] covers lines 2 to 1 and"],
    ["a\nb\n", [insert(1, "x"), update(2, 9, "x")], "ops[1] covers lines 2 to 9 and"],
    ["", [remove(1, 1)], 'the file has no lines; add some with an insert whose "at_line" is 1.'],
    ["a\nb\nc\n", [remove(1, 2), update(2, 3, "x")], "ops[0] and ops[1] both cover line 2"],
    ["a\nb\nc\n", [update(2, 3, "x"), remove(1, 2)], "ops[0] and ops[1] both cover line 2"],
    ["a\nb\nc\n", [remove(1, 3), remove(2, 2)], "ops[0] and ops[1] both cover line 2"],
    ["a\nb\nc\n", [insert(2, "x"), insert(2, "y")], "ops[0] and ops[1] both cover line 2"],
    ["a\nb\nc\n", [remove(1, 3), insert(1, "y")], "ops[0] and ops[1] both cover line 1"],
    ["a\nb\nc\n", [insert(3, "y"), insert(1, "x"), remove(2, 3)], "ops[0] and ops[2] both cover line 3"],
  ])("%j %j", (body, ops, sentence) => {
    expect(refusal(body, ...ops)).toContain(sentence);
  });

  test("by their place in the caller's list, other ops included", () => {
    expect(refusal("a\n", { op: "replace" }, insert(9, "x"))).toStartWith("ops[1] inserts at line 9");
  });
});

test("many ops are applied in steps", () => {
  const body = latin1("line\n".repeat(10_000));
  const ops = Array.from({ length: 5000 }, (_, index) => update(index * 2 + 1, index * 2 + 1, "x"));
  expect([...applyLineOps(body, ops)].length).toBeGreaterThan(50);
});

test.each(["\n", "\r\n"])("a long content with breaks %j is written in steps, like a short one", (breaks) => {
  const text = `é🙂${breaks}`.repeat(100_000);
  for (const ending of ["\n", "\r\n"]) {
    const body = Buffer.from(["a", "b", "c"].join(ending));
    const steps = applyLineOps(body, [update(2, 2, text)]);
    let count = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) count++;
    expect(count).toBeGreaterThan(5);
    const { parts, lines } = step.value;
    const expected = ["a", text.replaceAll(breaks, ending).slice(0, -ending.length), "c"].join(ending);
    expect(Buffer.concat(parts).toString() === expected).toBeTrue();
    expect(lines).toBe(100_002);
  }
});
