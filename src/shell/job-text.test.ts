import { describe, expect, test } from "bun:test";
import { type CommandEnding, renderCommand, renderDuration, renderEnding, renderJob } from "./job-text.ts";

test.each([
  [-1, "0 ms"],
  [12.4, "12 ms"],
  [999, "999 ms"],
  [1000, "1.0 s"],
  [59_940, "59.9 s"],
  [125_000, "2 min 5 s"],
  [3_600_000, "1 h 0 min"],
])("%d milliseconds are %s", (milliseconds, text) => {
  expect(renderDuration(milliseconds)).toBe(text);
});

const ended = { started_at_ms: 1000, finished_at_ms: 1012 };

test.each<[Partial<CommandEnding>, string]>([
  [{ status: "finished", exit_code: 0 }, "exit code 0 after 12 ms"],
  [{ status: "failed", exit_code: 3, signal: null }, "exit code 3 after 12 ms"],
  [{ status: "failed", exit_code: null, signal: "SIGSEGV" }, "ended by SIGSEGV after 12 ms"],
  [{ status: "failed", exit_code: null }, "failed after 12 ms"],
  [{ status: "killed", signal: "SIGTERM" }, "killed (SIGTERM) after 12 ms"],
  [{ status: "killed" }, "killed after 12 ms"],
])("%j is %s", (how, text) => {
  expect(renderEnding({ ...ended, status: "failed", ...how })).toBe(text);
});

test("a command line is quoted where it has to be", () => {
  expect(renderCommand(["npm", "run", "a b", "--x=y", ""])).toBe('npm run "a b" --x=y ""');
  expect(renderCommand(["echo", "a\u202e\u2028\u009bb"])).toBe('echo "a\\u202e\\u2028\\u009bb"');
});

describe("a job", () => {
  const job = { id: "job-1", ending: { ...ended, status: "finished", exit_code: 0 } as const };
  const plain = { sentence: (text: string) => text };
  const output = { text: "a\nb\n", from: 1, next: 3, start: 1, end: 3 };

  test.each([
    [{}, "a\nb\n[job-1: exit code 0 after 12 ms]"],
    [{ text: "" }, "[no output]\n[job-1: exit code 0 after 12 ms]"],
    [{ text: "\n" }, "\n[job-1: exit code 0 after 12 ms]"],
    [{ text: "a\n \n\n" }, "a\n \n\n[job-1: exit code 0 after 12 ms]"],
    [{ end: 9 }, "a\nb\n[job-1: exit code 0 after 12 ms; more: since 3]"],
    [
      { from: 8, next: 10, end: 10 },
      "[7 lines before: since 1, or grep]\na\nb\n[job-1: exit code 0 after 12 ms]",
    ],
    [
      { from: 8, next: 10, end: 10, start: 8 },
      "[lines before 8 are no longer kept]\na\nb\n[job-1: exit code 0 after 12 ms]",
    ],
    [
      { to_byte: 9 },
      "a\nb\n[job-1: exit code 0 after 12 ms; line 2 is cut: since 2 and since_byte 9 for its rest]",
    ],
    [
      { to_byte: 9, end: 9 },
      "a\nb\n[job-1: exit code 0 after 12 ms; line 2 is cut: since 2 and since_byte 9 for its rest; more: since 3]",
    ],
    [
      { from_byte: 7 },
      "[7 bytes of line 1 before: since 1, or grep]\na\nb\n[job-1: exit code 0 after 12 ms]",
    ],
    [
      { from: 2, from_byte: 7 },
      "[1 line and 7 bytes of line 2 before: since 1, or grep]\na\nb\n[job-1: exit code 0 after 12 ms]",
    ],
  ])("with %j is shown so", (part, text) => {
    expect(renderJob({ ...job, output: { ...output, ...part } }, plain)).toBe(text);
  });

  test("does not note the bytes that a call leaves out", () => {
    const rest = { ...output, from_byte: 7 };
    expect(renderJob({ ...job, output: rest, since: 1, sinceByte: 7 }, plain)).toBe(
      "a\nb\n[job-1: exit code 0 after 12 ms]",
    );
  });

  test.each([
    [{}, 'a\nb\n[job-1: exit code 0 after 12 ms; no line matches "b"]'],
    [{ found: "b", found_line: 2 }, 'a\nb\n[job-1: exit code 0 after 12 ms; line 2 matches "b"]'],
    [
      { found: "above", found_line: 1 },
      '1→above\na\nb\n[job-1: exit code 0 after 12 ms; line 1 matches "b"]',
    ],
  ])("with %j says what was waited for", (part, text) => {
    expect(renderJob({ ...job, output: { ...output, ...part }, awaited: "b" }, plain)).toBe(text);
  });

  test("of a search says how to see the matches before the last ones", () => {
    const last = { ...output, text: "9→b\n", next: 10, end: 10, matches: 3, matches_before: 2 };
    expect(renderJob({ ...job, output: last, isSearch: true, since: 4 }, plain)).toBe(
      "[2 lines that match before: since 4 without tail_lines]\n9→b\n[job-1: exit code 0 after 12 ms; 3 lines match]",
    );
  });

  test("names the maxima that fields exceeded", () => {
    const maxima = { wait_ms: 30_000, max_output_bytes: 4096 };
    expect(renderJob({ ...job, output: { ...output, end: 9 }, maxima }, plain)).toBe(
      "a\nb\n[job-1: exit code 0 after 12 ms; wait_ms is at most 30000; max_output_bytes is at most 4096; more: since 3]",
    );
  });
});
