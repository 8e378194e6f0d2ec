import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../tests/harness/random.ts";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { defaultShellConfig } from "../shell/config.ts";
import { sed } from "../shell/fs/sed.ts";
import { openShell } from "../shell/services.ts";
import { defaultConfig } from "./config.ts";
import { search } from "./search.ts";
import { openCoder } from "./services.ts";
import { transact } from "./transact.ts";
import { updateFile } from "./update-file.ts";

const base = mkdtempSync(join(tmpdir(), "coder-"));
const log = createLog({ level: "error", form: "text", write: () => undefined });
const journal = { dir: mkdtempSync(join(tmpdir(), "state-")), max_bytes: 2 ** 20, max_records: 9 };
const agent = { profile: "agent" as const };
const coder = await openCoder(
  { ...defaultConfig(), ...agent, base_path: base, fsync: false, journal },
  { environment: {} },
);
const shellConfig = { ...defaultShellConfig(), ...agent };
const shell = await openShell(
  { ...shellConfig, fs: { ...shellConfig.fs, host_root: base } },
  { environment: {}, log },
);
const invoke = createInvoke(coder, log);
const invokeShell = createInvoke(shell, log);
afterAll(async () => {
  await coder.close();
  await shell.close();
  rmSync(base, { recursive: true });
  rmSync(journal.dir, { recursive: true });
});

type Ending = "\n" | "\r\n" | "\r" | "";

interface Line {
  readonly text: string;
  readonly ending: Ending;
}

const lineEnds: fc.Arbitrary<readonly Ending[]> = fc.constantFrom(["\n"], ["\r\n"], ["\n", "\r\n"], ["\r"]);

/** Generates files of distinct lines, with one kind of line ends or two. */
const file = lineEnds.chain((kinds) =>
  fc
    .tuple(fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 6 }), fc.boolean())
    .filter(([endings, isOpen]) => endings.length > 1 || !isOpen)
    .map(([endings, isOpen]) =>
      endings.map((ending, index): Line => {
        const isLast = index === endings.length - 1;
        return { text: `<${index}>`, ending: isLast && isOpen ? "" : ending };
      }),
    ),
);

const joined = (lines: readonly Line[]): string => lines.map(({ text, ending }) => text + ending).join("");

const linesOf = (text: string): Line[] =>
  [...text.matchAll(/([^\r\n]*)(\r\n|\r|\n|$)/g)]
    .map(([, line, ending]): Line => ({ text: line!, ending: ending as Ending }))
    .filter(({ text: line, ending }) => line + ending !== "");

/** Returns ops that replace line `at`, or insert lines before it. */
const opsAt = (at: number): Record<string, object> => ({
  insert: { op: "insert", at_line: at + 1, content: "x\ny\n" },
  crlf: { op: "insert", at_line: at + 1, content: "x\r\ny" },
  update: { op: "update_lines", from_line: at + 1, to_line: at + 1, content: "x\ny\n" },
  remove: { op: "remove", from_line: at + 1, to_line: at + 1 },
  text: { op: "str_replace", old_str: `<${at}>`, new_str: "x\ny" },
  returns: { op: "str_replace", old_str: `<${at}>`, new_str: "x\r\ny" },
  regex: { op: "replace", pattern: `<${at}>`, replacement: "x\ny" },
  anchored: { op: "replace", pattern: `(?m)^(<${at}.)$`, replacement: "x\n$1" },
});

test("no line outside of an edit changes its ending, nor does one that is replaced", async () => {
  await fc.assert(
    fc.asyncProperty(
      file,
      fc.nat(),
      fc.constantFrom(...Object.keys(opsAt(0))),
      fc.constantFrom("update", "transact"),
      async (lines, place, name, by) => {
        const at = place % lines.length;
        writeFileSync(join(base, "f"), joined(lines));
        const op = opsAt(at)[name]!;
        const outcome =
          by === "update"
            ? await invoke(updateFile, { files: [{ path: "f", ops: [op] }], answer: "none" })
            : await invoke(transact, { changes: [{ op: "update", path: "f", ops: [op] }] });
        expect(JSON.stringify(outcome)).not.toContain('"error"');
        const after = linesOf(readFileSync(join(base, "f"), "utf8"));
        const isOpen = lines.at(-1)!.ending === "";
        const others = lines.filter((_, index) => index !== at);
        for (const { text, ending } of others) {
          const found = after.filter((line) => line.text === text);
          // A missing line end at the end of the file stays missing there.
          const isMoved = isOpen && (found[0] === after.at(-1) || ending === "");
          expect([found.length, isMoved ? ending : found[0]?.ending]).toEqual([1, ending]);
        }
        const before = (at === 0 ? lines[0] : lines[at - 1])!.ending;
        // An inserted line has the ending of the line before it.
        const isInserted = ["insert", "crlf", "anchored"].includes(name);
        const wanted = isInserted ? before : lines[at]!.ending || before;
        const [x] = after.filter(({ text }) => text === "x");
        if (name !== "remove") expect(x?.ending).toBe(wanted);
      },
    ),
    propertyRuns(180),
  );
});

test.each([
  [{ op: "str_replace", old_str: "dos\n", new_str: "DOS\nx\n" }, "unix\nDOS\r\nx\r\nunix2\ndos2\r\nend\n"],
  [
    { op: "str_replace", old_str: "dos\nunix2\ndos2\n", new_str: "dos\nUNIX2\nx\ndos2\n" },
    "unix\ndos\r\nUNIX2\nx\ndos2\r\nend\n",
  ],
  [{ op: "str_replace", old_str: "unix\ndos\nunix2\n", new_str: "unix2\n" }, "unix2\ndos2\r\nend\n"],
  [{ op: "replace", pattern: "(?m)^dos$", replacement: "DOS\nx" }, "unix\nDOS\r\nx\r\nunix2\ndos2\r\nend\n"],
  [
    { op: "update_lines", from_line: 2, to_line: 4, content: "DOS\nunix2\nDOS2\nx\n" },
    "unix\nDOS\r\nunix2\nDOS2\r\nx\r\nend\n",
  ],
] as const)("lines of a file with mixed line ends keep theirs: %j", async (op, expected) => {
  writeFileSync(join(base, "f"), "unix\ndos\r\nunix2\ndos2\r\nend\n");
  const outcome = await invoke(updateFile, { files: [{ path: "f", ops: [op] }] });
  expect(JSON.stringify(outcome)).toContain('"success":true');
  expect(readFileSync(join(base, "f"), "utf8")).toBe(expected);
});

test("sed keeps line ends, and its patterns end where lines do", async () => {
  await fc.assert(
    fc.asyncProperty(file, fc.nat(), async (lines, place) => {
      const at = place % lines.length;
      writeFileSync(join(base, "f"), joined(lines));
      const payload = { files: [join(base, "f")], pattern: `^<${at}(.+)$`, replacement: "[$1]" };
      const outcome = await invokeShell(sed, payload);
      expect(JSON.stringify(outcome)).toContain('"total_replacements":1');
      const expected = lines.map((line, index) => (index === at ? { ...line, text: "[>]" } : line));
      expect(readFileSync(join(base, "f"), "utf8")).toBe(joined(expected));
    }),
    propertyRuns(90),
  );
});

test("a text over lines is found whatever their ends are, and each keeps its own", async () => {
  await fc.assert(
    fc.asyncProperty(
      file.filter((lines) => lines.length > 1),
      fc.nat(),
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      async (lines, place, sent, isRegex) => {
        const at = place % (lines.length - 1);
        writeFileSync(join(base, "f"), joined(lines));
        const op = isRegex
          ? { op: "replace", pattern: `<${at}>\\n<${at + 1}>`, replacement: `x\ny`, expect_matches: 1 }
          : { op: "str_replace", old_str: `<${at}>${sent}<${at + 1}>`, new_str: `x${sent}y` };
        const outcome = await invoke(updateFile, { files: [{ path: "f", ops: [op] }] });
        expect(JSON.stringify(outcome)).toContain('"success":true');
        const texts = lines.map(({ text }, index) => (index === at ? "x" : index === at + 1 ? "y" : text));
        const expected = lines.map((line, index) => ({ ...line, text: texts[index]! }));
        expect(readFileSync(join(base, "f"), "utf8")).toBe(joined(expected));
      },
    ),
    propertyRuns(180),
  );
});

/** Patterns without a newline, which a search line by line could not match. */
const withinLines = ["a", "a.", "(.+)$", "^.", "b$", "[^a\\n]$", "^$|b", "[ b]$", "a\\b", "^b.*"];
const overLines = [
  ...withinLines,
  "a\\n",
  "\\n",
  "b\\na",
  "\\s+",
  "[^a]$",
  "\\s$",
  "[^a]+",
  "a\\n+b",
  "(?s)a.*b",
];

test("search and replace agree on what matches", async () => {
  await fc.assert(
    fc.asyncProperty(
      lineEnds.chain((kinds) =>
        fc.array(fc.constantFrom("a", "b", " ", "ab", "é", ...kinds, ...kinds), {
          minLength: 1,
          maxLength: 12,
        }),
      ),
      fc.boolean(),
      fc.nat(),
      async (parts, multiline, choice) => {
        const text = parts.join("");
        writeFileSync(join(base, "f"), text);
        const patterns = multiline ? overLines : withinLines;
        const pattern = patterns[choice % patterns.length]!;
        const query = { path: "f", query: pattern, regex: true, multiline, mode: "counts" };
        const found = await invoke(search, query);
        if ("error" in found) throw new Error(found.error);
        const { files } = found.answer as { files: { matches: number }[] };
        // A search does not match the empty line after the last line end.
        const op = { op: "replace", pattern: `(?m)${pattern}`, replacement: "<$0>" };
        const edited = await invoke(updateFile, { path: "f", ops: [op], dry_run: true, answer: "echo" });
        if ("error" in edited) throw new Error(edited.error);
        type Answer = { results: [{ echoes?: { total_replacements: number }[]; error?: string }] };
        const [{ echoes, error }] = (edited.answer as Answer).results;
        if (error !== undefined) expect(error).toContain("matches nothing");
        const isEmptyAtEnd = pattern === "^$|b" && /[\r\n]$/.test(text);
        expect([text, pattern, (files[0]?.matches ?? 0) + (isEmptyAtEnd ? 1 : 0)]).toEqual([
          text,
          pattern,
          echoes?.[0]?.total_replacements ?? 0,
        ]);
      },
    ),
    propertyRuns(240),
  );
});
