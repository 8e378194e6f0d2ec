import { afterAll, describe, expect, spyOn, test } from "bun:test";
import { tmpdir } from "node:os";
import fc from "fast-check";
import { deadlineIn } from "../base/scheduling/deadline.ts";
import { createRegexEngine } from "../text/regex/rust-regex.ts";
import { grepOutput, selectInTurn, selectOutput, waitForOutput } from "./job-output.ts";
import { LinePatterns } from "./line-patterns.ts";
import { OutputLog } from "./programs/output-log.ts";

const regex = createRegexEngine({ threads: false });
afterAll(() => regex.close());
const patterns = new LinePatterns(regex);
const compile = (pattern: string) => patterns.compile(pattern);

function logOf(text: string): OutputLog {
  const log = new OutputLog({ maxBytes: 1024 * 1024, temporaryFolder: tmpdir() });
  log.add(Buffer.from(text), "stdout");
  return log;
}

const many = Array.from({ length: 100 }, (_, index) => `line ${index}\n`).join("");

describe("a part of an output", () => {
  test("is its end, in whole lines", () => {
    const part = selectOutput(logOf(many), { maxBytes: 25 });
    expect(part.text).toBe("line 97\nline 98\nline 99\n");
    expect(part).toMatchObject({ from: 98, next: 101, start: 1, end: 101 });
  });

  test("is a number of lines of its end, of those from one on", () => {
    const log = logOf(`${many}unfinished`);
    const text = (selection: { tailLines: number; since?: number; maxBytes?: number }) =>
      selectOutput(log, { maxBytes: 1000, ...selection }).text;
    expect(text({ tailLines: 1 })).toBe("unfinished");
    expect(text({ tailLines: 2 })).toBe("line 99\nunfinished");
    expect(text({ tailLines: 3, since: 100 })).toBe("line 99\nunfinished");
    expect(text({ tailLines: 100, maxBytes: 20 })).toBe("line 98\nline 99\nunfinished");
  });

  test("is what came from a line on, with one that has not ended", () => {
    const log = logOf("one\ntwo\nthr");
    expect(selectOutput(log, { since: 2, maxBytes: 100 })).toMatchObject({
      text: "two\nthr",
      from: 2,
      next: 3,
    });
    expect(selectOutput(log, { since: 3, maxBytes: 100 })).toMatchObject({ text: "thr", next: 3 });
    expect(selectOutput(log, { since: 999, maxBytes: 100 })).toMatchObject({ text: "thr", from: 3, next: 3 });
    expect(selectOutput(log, { since: 1, maxBytes: 5 })).toMatchObject({ text: "one\n", next: 2, end: 3 });
  });

  test("of a line that has not ended, what stands there now is shown", () => {
    expect(selectOutput(logOf("10 %\r20 %\r30 %"), { maxBytes: 100 }).text).toBe("30 %");
    expect(selectOutput(logOf("10 %\r20 %\r"), { maxBytes: 100 }).text).toBe("20 %\r");
    expect(selectOutput(logOf("x".repeat(100)), { maxBytes: 5 }).text).toBe("…xxxxx");
  });

  test("is one line at least, which is cut where it is too long by itself", () => {
    const log = logOf(`short\n${"x".repeat(70_000)}\n${"y".repeat(3000)}\n`);
    expect(selectOutput(log, { since: 2, maxBytes: 100 })).toMatchObject({
      text: `${"x".repeat(100)}…\n`,
      next: 3,
    });
  });

  test("shows the end of the last line, where it is too long by itself", () => {
    const log = logOf(`short\n${"x".repeat(3000)}é the error\n`);
    for (const selection of [{}, { tailLines: 1 }, { tailLines: 2, since: 2 }])
      expect(selectOutput(log, { maxBytes: 12, ...selection })).toMatchObject({
        text: "…é the error\n",
        from: 2,
        from_byte: 3000,
        next: 3,
      });
    expect(selectOutput(log, { maxBytes: 11 })).toMatchObject({ text: "… the error\n", from_byte: 3002 });
    expect(selectOutput(log, { maxBytes: 4000, tailLines: 1 })).not.toHaveProperty("from_byte");
  });

  test("begins within a line", () => {
    const log = logOf("short\nvery long\nlast\n");
    const page = (sinceByte: number, since = 2) => selectOutput(log, { since, sinceByte, maxBytes: 100 });
    expect(page(5)).toMatchObject({ text: "long\nlast\n", from: 2, from_byte: 5, next: 4 });
    expect(page(9)).toMatchObject({ text: "\nlast\n", from: 2, from_byte: 9 });
    expect(page(99)).toMatchObject({ text: "last\n", from: 3 });
    expect(page(5, 99)).toMatchObject({ text: "", from: 4 });
    for (const whole of [page(0), page(99), page(5, 99)]) expect(whole).not.toHaveProperty("from_byte");
  });

  test("with the rest of each line that is cut, the pages together are the whole", () => {
    const unit = fc.constantFrom("a", "é", "日", "😀", "\n");
    const byte = fc.constantFrom(0x61, 0x0a, 0x80, 0xff, 0xe2);
    const written = fc.oneof(
      fc.string({ unit, maxLength: 200 }).map((text) => Buffer.from(text)),
      fc.array(byte, { maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    );
    fc.assert(
      fc.property(written, fc.integer({ min: 4, max: 40 }), (bytes, maxBytes) => {
        const log = new OutputLog({ maxBytes: 1024 * 1024, temporaryFolder: tmpdir() });
        log.add(bytes, "stdout");
        log.close();
        const whole = log.read(0, log.end).toString();
        let pages = "";
        for (let [since, sinceByte] = [1, 0]; since < log.lineAt(log.end); ) {
          const { text, next, to_byte } = selectOutput(log, { since, sinceByte, maxBytes });
          pages += to_byte === undefined ? text : text.slice(0, -2);
          [since, sinceByte] = to_byte === undefined ? [next, 0] : [next - 1, to_byte];
        }
        if (!whole.includes("\ufffd")) expect(pages).toBe(whole);
        else expect(pages.replaceAll("\ufffd", "")).toBe(whole.replaceAll("\ufffd", ""));
      }),
    );
  });

  test("is decoded as a whole, however many lines it has", () => {
    const log = logOf("\u00e9\n".repeat(100_000));
    const decoding = spyOn(TextDecoder.prototype, "decode");
    const parts = [{}, { tailLines: 90_000 }, { since: 2 }].map((selection) =>
      selectOutput(log, { maxBytes: 1024 * 1024, ...selection }),
    );
    expect(decoding.mock.calls.length).toBeLessThanOrEqual(2 * parts.length);
    decoding.mockRestore();
    expect(parts.map(({ text }) => text.length)).toEqual([200_000, 180_000, 199_998]);
  });

  test("the pages together are the whole", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "\n", "b", "\n"), maxLength: 300 });
    fc.assert(
      fc.property(text, fc.integer({ min: 20, max: 60 }), (written, maxBytes) => {
        const log = logOf(written);
        log.close();
        let pages = "";
        for (let since = 1, end = 2; since < end; ) {
          const part = selectOutput(log, { since, maxBytes });
          if (log.end > 0) expect(part.next).toBeGreaterThan(since);
          const isWhole = part.next - since === 1 || Buffer.byteLength(part.text) <= maxBytes;
          expect(isWhole).toBe(true);
          pages += part.text;
          since = part.next;
          end = part.end;
        }
        expect(pages).toBe(log.read(0, log.end).toString());
      }),
    );
  });
});

describe("a search in an output", () => {
  const grep = (
    log: OutputLog,
    pattern: string,
    more: { since?: number; tailLines?: number; maxBytes?: number } = {},
  ) =>
    grepOutput(log, {
      maxBytes: 10_000,
      ...more,
      pattern: compile(pattern),
      deadline: deadlineIn(Number.POSITIVE_INFINITY),
    });

  test("shows lines that match with their numbers and two lines around them", async () => {
    const log = logOf("a\nb\nc\nbad 1\nd\ne\nf\ng\nh\nbad 2\ni\n");
    expect(await grep(log, "^bad")).toMatchObject({
      text: "2-b\n3-c\n4→bad 1\n5-d\n6-e\n--\n8-g\n9-h\n10→bad 2\n11-i\n",
      matches: 2,
      next: 12,
    });
    expect(await grep(log, "none")).toMatchObject({ text: "", matches: 0 });
  });

  test("finds a line that has not ended, which the next call shows again", async () => {
    const log = logOf("one\nContinue? [y/N] ");
    for (const more of [{}, { since: 2 }, { tailLines: 1 }])
      expect(await grep(log, "^Continue", more)).toMatchObject({ matches: 1, next: 2 });
    expect((await grep(log, "^Continue")).text).toBe("1-one\n2→Continue? [y/N] \n");
    expect((await grep(log, "one")).text).toBe("1→one\n2-Continue? [y/N] \n");
    log.add(Buffer.from("é: no"), "stderr");
    expect((await grep(log, "no$")).text).toBe("1-one\n2-Continue? [y/N] \n3→é: no\n");
    expect(await grep(logOf("1 of 9\r9 of 9"), "9 of")).toMatchObject({ matches: 1 });
  });

  test("takes CRLF for the end of a line", async () => {
    const log = logOf("HTTP/1.1 200 OK\r\n\r\na\rb\r\n");
    expect((await grep(log, "OK$")).text).toBe("1→HTTP/1.1 200 OK\n2-\n3-a\rb\n");
    expect(await grep(log, "^$")).toMatchObject({ matches: 1 });
    expect(await grep(log, "^b$")).toMatchObject({ matches: 0 });
  });

  test("shows the last lines that match, with those around them, and counts the matches before", async () => {
    const log = logOf("a\nb\nc\nbad 1\nd\ne\nf\nbad 2\nbad 3\ng\nh\ni\n");
    expect(await grep(log, "^bad", { tailLines: 1 })).toMatchObject({
      text: "9→bad 3\n10-g\n11-h\n",
      matches: 3,
      matches_before: 2,
      next: 13,
    });
    expect(await grep(log, "^bad", { tailLines: 2 })).toMatchObject({
      text: "6-e\n7-f\n8→bad 2\n9→bad 3\n10-g\n11-h\n",
      matches_before: 1,
    });
    for (const more of [{ tailLines: 3 }, { tailLines: 2, since: 5 }, { tailLines: 9 }])
      expect(await grep(log, "^bad", more)).not.toHaveProperty("matches_before");
    expect((await grep(log, "^bad", { tailLines: 3 })).text).toBe((await grep(log, "^bad")).text);
  });

  test("shows as many of the last lines that match as fit, at least one", async () => {
    const log = logOf(many);
    const last = await grep(log, "[05]$", { tailLines: 10, maxBytes: 120 });
    expect(last).toMatchObject({ matches: 20, matches_before: 18, next: 101 });
    expect(last.text).toBe((await grep(log, "[05]$", { tailLines: 2 })).text);
    expect((await grep(log, "[05]$", { tailLines: 10, maxBytes: 1 })).text).toContain("96→line 95\n");
  });

  test("shows of the last matches what a search of all shows of them", async () => {
    const line = fc.constantFrom("match", "other", "none");
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 40 }),
        fc.integer({ min: 1, max: 8 }),
        async (lines, tailLines) => {
          const log = logOf(lines.map((text) => `${text}\n`).join(""));
          const all = (await grep(log, "^match")).text.split("\n");
          const { text, matches = 0, matches_before: before = 0 } = await grep(log, "^match", { tailLines });
          expect(matches - before).toBe(Math.min(matches, tailLines));
          const shown = text.split("\n");
          expect(shown.filter((one) => one.includes("→")).length).toBe(matches - before);
          const hasContext = all.slice(-shown.length);
          expect(shown).toEqual(hasContext);
        },
      ),
    );
  });

  test("ends when the text is full, and goes on from there", async () => {
    const log = logOf(many);
    const first = await grep(log, "[05]$", { maxBytes: 50 });
    expect(first.next).toBeLessThan(first.end);
    const rest = await grep(log, "[05]$", { since: first.next });
    expect(first.matches! + rest.matches!).toBe(20);
  });

  test("shows of a long line what is around the match, and takes bytes that are not UTF-8", async () => {
    const log = logOf(`${"x".repeat(3000)}needle${"y".repeat(3000)}\n`);
    log.add(Buffer.from([0xff, 0x6e, 0x65, 0x65, 0x64, 0x6c, 0x65, 0x0a]), "stderr");
    const { text } = await grep(log, "needle");
    expect(text).toMatch(/^1→…x+needley+…\n2→\ufffdneedle\n$/);
    expect(text.length).toBeLessThan(600);
  });
});

describe("waiting", () => {
  const never = new Promise<void>(() => {});
  const wait = (log: OutputLog, pattern: string | undefined, more = {}) =>
    waitForOutput(log, {
      from: 0,
      pattern: pattern === undefined ? undefined : compile(pattern),
      milliseconds: 60_000,
      deadline: deadlineIn(Number.POSITIVE_INFINITY),
      settled: never,
      ...more,
    });

  test("ends with a line that is there already, comes later, or has not ended", async () => {
    const log = logOf("up\nlistening on 3000\n");
    expect(await wait(log, "listening")).toEqual({ found: "listening on 3000", found_line: 2 });
    const later = wait(log, "ready");
    log.add(Buffer.from("not yet\nread"), "stdout");
    log.add(Buffer.from("y in 5 ms\n"), "stdout");
    expect(await later).toEqual({ found: "ready in 5 ms", found_line: 4 });
    const written = wait(log, "^done$", { from: log.end });
    log.add(Buffer.from("done\r\n"), "stdout");
    expect(await written).toEqual({ found: "done", found_line: 5 });
    const halfway = wait(log, "^half$", { from: log.end });
    log.add(Buffer.from("half\r"), "stderr");
    expect(await halfway).toEqual({ found: "half", found_line: 6 });
    log.add(Buffer.from("\n"), "stderr");
    const prompt = wait(log, "Password: $", { from: log.end });
    log.add(Buffer.from("Password: "), "stderr");
    expect(await prompt).toEqual({ found: "Password: ", found_line: 7 });
    log.add(Buffer.from("more"), "stdout");
    expect(await wait(log, "^more$", { from: log.end })).toEqual({ found: "more", found_line: 7 });
    expect(await wait(log, "^Password: $", { from: log.end })).toEqual({
      found: "Password: ",
      found_line: 8,
    });
  });

  test("ends with the job, with its time, and with the call", async () => {
    const log = logOf("up\n");
    expect(await wait(log, "never", { settled: Promise.resolve() })).toBeUndefined();
    expect(await wait(log, undefined, { milliseconds: 1 })).toBeUndefined();
    const cancel = new AbortController();
    const waiting = wait(log, "never", { deadline: deadlineIn(60_000, cancel.signal) });
    cancel.abort();
    expect(await waiting.catch((error: Error) => error.message)).toContain("cancelled");
    await expect(wait(log, undefined, { deadline: deadlineIn(60_000, cancel.signal) })).rejects.toThrow(
      "cancelled",
    );
  });
});

test("callers that go on at the end of a job select its output in turns of the event loop", async () => {
  const log = logOf("0123456789\n".repeat(90_000));
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
  const waiting = {
    from: 0,
    pattern: undefined,
    milliseconds: 60_000,
    deadline: deadlineIn(60_000),
    settled,
  };
  const turns = new Map<number, number>();
  const callers = Array.from({ length: 100 }, async () => {
    await waitForOutput(log, waiting);
    const { end } = await selectInTurn(log, { maxBytes: 1024 * 1024 });
    expect(end).toBe(90_001);
    turns.set(turn, (turns.get(turn) ?? 0) + 1);
  });
  settle();
  await Promise.all(callers);
  isOver = true;
  expect(turns.size).toBeGreaterThan(5);
});
