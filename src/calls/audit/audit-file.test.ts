import { afterAll, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AuditFile, firstHash, hashOfLine } from "./audit-file.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-audit-")));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const newPath = (): string => join(folder, `${++files}.jsonl`);

const bounds = { maxBytes: 1_000_000, keep: 3 };
const linesOf = (path: string): string[] => readFileSync(path, "utf8").trimEnd().split("\n");

/**
 * Returns the hash of the last line. Throws unless each line names that of the previous one, beginning with
 * `from`.
 */
function requireChain(lines: readonly string[], from = firstHash): string {
  let previous = from;
  for (const [index, line] of lines.entries()) {
    const named = (JSON.parse(line) as { previous: string }).previous;
    if (named !== previous) throw new Error(`line ${index + 1} names ${named}, not ${previous}`);
    previous = hashOfLine(line);
  }
  return previous;
}

test("each line has the hash of the line before, for this user alone", () => {
  const path = newPath();
  const file = new AuditFile(path, bounds);
  expect(file.newest).toBe(firstHash);
  for (let number = 0; number < 5; number++) file.append({ number, text: "ä\n" });
  expect(linesOf(path).map((line) => JSON.parse(line).number)).toEqual([0, 1, 2, 3, 4]);
  expect(requireChain(linesOf(path))).toBe(file.newest);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  file.close();
});

test("a line that is changed, taken out or put in shows", () => {
  const path = newPath();
  const file = new AuditFile(path, bounds);
  for (let number = 0; number < 5; number++) file.append({ number });
  const lines = linesOf(path);
  const forged = lines[2]!.replace('"number":2', '"number":7');
  for (const other of [lines.toSpliced(2, 1, forged), lines.toSpliced(2, 1), lines.toSpliced(2, 0, forged)])
    expect(() => requireChain(other)).toThrow(/line [34] names/);
  file.close();
});

test("the chain goes on where another process, or the one before, ended", () => {
  const path = newPath();
  const one = new AuditFile(path, bounds);
  one.append({ by: "one" });
  const other = new AuditFile(path, bounds);
  other.append({ by: "other", long: "x".repeat(20_000) });
  one.append({ by: "one" });
  one.close();
  other.append({ by: "other" });
  other.close();
  expect(linesOf(path).map((line) => JSON.parse(line).by)).toEqual(["one", "other", "one", "other"]);
  expect(new AuditFile(path, bounds).newest).toBe(requireChain(linesOf(path)));
});

test("a line that a kill cut off stays, and the next one names it", () => {
  const path = newPath();
  const file = new AuditFile(path, bounds);
  file.append({ number: 1 });
  file.append({ number: 2 });
  file.close();
  truncateSync(path, statSync(path).size - 10);
  const next = new AuditFile(path, bounds);
  next.append({ number: 3 });
  const lines = linesOf(path);
  expect(JSON.parse(lines[2]!)).toEqual({ number: 3, previous: hashOfLine(lines[1]!) });
  next.close();
});

test("a full file gets another name, and the chain goes on in the next", () => {
  const path = newPath();
  const file = new AuditFile(path, { maxBytes: 400, keep: 2 });
  const other = new AuditFile(path, { maxBytes: 400, keep: 2 });
  for (let number = 0; number < 20; number++) (number % 3 === 0 ? other : file).append({ number });
  const lines = [`${path}.2`, `${path}.1`, path].flatMap(linesOf);
  const { previous, number } = JSON.parse(lines[0]!) as { previous: string; number: number };
  expect(number).toBeGreaterThan(0);
  expect(lines.map((line) => JSON.parse(line).number)).toEqual(lines.map((_, index) => number + index));
  expect(JSON.parse(lines.at(-1)!).number).toBe(19);
  requireChain(lines, previous);
  expect([`${path}.2`, `${path}.1`, path].filter((name) => statSync(name).size > 400)).toEqual([]);
  expect(existsSync(`${path}.3`)).toBe(false);
  file.close();
  other.close();
});

test("without older files a full one is begun anew", () => {
  const path = newPath();
  const file = new AuditFile(path, { maxBytes: 300, keep: 0 });
  for (let number = 0; number < 10; number++) file.append({ number });
  expect(JSON.parse(linesOf(path).at(-1)!).number).toBe(9);
  expect(existsSync(`${path}.1`)).toBe(false);
  file.close();
});

test("what others append is part of the chain", () => {
  const path = newPath();
  const file = new AuditFile(path, bounds);
  file.append({ number: 1 });
  appendFileSync(path, "by hand\n");
  file.append({ number: 2 });
  expect(JSON.parse(linesOf(path)[2]!).previous).toBe(hashOfLine("by hand"));
  file.close();
});

test("no link is followed", () => {
  const path = newPath();
  symlinkSync(join(folder, "elsewhere"), path);
  expect(() => new AuditFile(path, bounds)).toThrow(/ELOOP/);
});

test("only a regular file is opened, also when another takes the name", () => {
  const fifo = newPath();
  execFileSync("mkfifo", [fifo]);
  for (const path of [fifo, "/dev/null", folder])
    expect(() => new AuditFile(path, bounds)).toThrow(/EINVAL|EISDIR/);
  const path = newPath();
  const file = new AuditFile(path, bounds);
  file.append({ number: 1 });
  renameSync(fifo, path);
  expect(() => file.append({ number: 2 })).toThrow("EINVAL");
  expect(() => file.append({ number: 3 })).toThrow("EINVAL");
  rmSync(path);
  file.append({ number: 4 });
  expect(linesOf(path).map((line) => JSON.parse(line).number)).toEqual([4]);
  file.close();
});
