/**
 * Undo of each kind of step where the configuration denies, or protects, what it did not when the checkpoint
 * was made: what is denied keeps its content and its name, and nothing that is denied gets a name that is
 * not.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { callWith, type FunctionCall } from "./call-with.test-kit.ts";
import type { Config } from "./config.ts";

let root: string;
let base: string;
const at = (path: string) => join(base, path);

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  base = join(root, "base");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text, { mode: 0o644 });
  }
  symlinkSync("free.txt", at("link"));
});
afterEach(() => rmSync(root, { recursive: true }));

const files = {
  "free.txt": "free\n",
  "kept.txt": "kept\n",
  "folder/kept.txt": "inside\n",
  "folder/x": "x\n",
};

/** One call for each kind of step, which changes `kept.txt` or a folder that contains it. */
const steps: Readonly<Record<string, FunctionCall>> = {
  create: ["coder::create-file", { files: [{ path: "new/kept.txt", content: "new\n", parents: true }] }],
  replace: ["coder::create-file", { files: [{ path: "kept.txt", content: "new\n", overwrite: true }] }],
  edit: [
    "coder::update-file",
    { files: [{ path: "kept.txt", ops: [{ op: "insert", at_line: 1, content: "new" }] }] },
  ],
  remove: ["coder::delete-file", { paths: ["kept.txt"] }],
  "remove a folder": ["coder::delete-file", { paths: ["folder"], recursive: true }],
  "move away": ["coder::move", { files: [{ from: "kept.txt", to: "stolen.txt" }] }],
  "move in": ["coder::move", { files: [{ from: "free.txt", to: "new/kept.txt", parents: true }] }],
  "move over": ["coder::move", { files: [{ from: "free.txt", to: "kept.txt", overwrite: true }] }],
  "move a link in": ["coder::move", { files: [{ from: "link", to: "new/kept.txt", parents: true }] }],
  "move a folder": ["coder::move", { files: [{ from: "folder", to: "other" }] }],
  copy: ["coder::copy", { files: [{ from: "free.txt", to: "new/kept.txt", parents: true }] }],
  "copy a folder": ["coder::copy", { files: [{ from: "folder", to: "other" }] }],
  "make a folder": ["coder::make-folder", { paths: ["new/kept.txt"], parents: true }],
  transact: [
    "coder::transact",
    {
      changes: [
        { op: "chmod", path: "kept.txt", mode: "0600" },
        { op: "move", from: "folder", to: "other" },
      ],
    },
  ],
  patch: ["coder::apply-patch", { patch: "--- a/kept.txt\n+++ b/kept.txt\n@@ -1 +1 @@\n-kept\n+new\n" }],
};

/** Returns the entries named `kept.txt` and all files with their content, with mode, inode and content. */
function stateOfKept(): string[] {
  return readdirSync(base, { recursive: true, encoding: "utf8" })
    .sort()
    .flatMap((path) => {
      const { mode, ino } = lstatSync(at(path));
      const text = lstatSync(at(path)).isFile() ? readFileSync(at(path), "utf8") : "";
      return path.endsWith("kept.txt") || /kept|inside/.test(text) ? [`${path} ${mode} ${ino} ${text}`] : [];
    });
}

const strictly: Readonly<Record<string, Partial<Config>>> = {
  denied: { non_accessible_globs: ["**/kept.txt"] },
  protected: { write_deny_globs: ["**/kept.txt"] },
};

describe.each(Object.entries(strictly))("%s by now", (_, stricter) => {
  test.each(Object.entries(steps))("%s", async (_, step) => {
    const plain = stateOfKept();
    expect(JSON.stringify(await callWith(root, {}, step))).not.toMatch(/"code"|"success":false/);
    const changed = stateOfKept();
    expect(changed).not.toEqual(plain);
    await callWith(
      root,
      stricter,
      ["coder::undo", {}],
      ["coder::undo", { force: true }],
      ["coder::undo", { seq: 1, force: true }],
    );
    expect(stateOfKept()).toEqual(changed);
    expect(existsSync(at("stolen.txt"))).toBe(step === steps["move away"]);
  });
});

test("each of them is undone where nothing is denied", async () => {
  const plain = stateOfKept().map((line) => line.replace(/ \d+ \d+ /, " "));
  for (const step of Object.values(steps)) {
    await callWith(root, {}, step);
    await callWith(root, {}, ["coder::undo", {}]);
    expect(stateOfKept().map((line) => line.replace(/ \d+ \d+ /, " "))).toEqual(plain);
  }
});

test("what is denied by now has no image in a checkpoint or among the changes", async () => {
  const png = (text: string) => Buffer.from(`\x89PNG\r\n\x1a\n\0${text}`, "latin1");
  for (const name of ["kept.txt", "free.txt"]) writeFileSync(at(name), png(name));
  const over = ["kept.txt", "free.txt"].map((to) => ({ from: "folder/x", to, overwrite: true }));
  const step: FunctionCall = ["coder::copy", { files: over }];
  const wanted = { answer: "diff", images: true };
  const asked: FunctionCall[] = [
    ["coder::checkpoints", { ...wanted, seq: 1 }],
    ["coder::changes", wanted],
  ];
  const images = async (config: Partial<Config>, ...calls: FunctionCall[]) =>
    JSON.stringify(await callWith(root, config, ...calls)).match(/"data":"[^"]+"/g)?.length ?? 0;
  expect(await images({}, step, ...asked)).toBe(4);
  expect(await images(strictly["denied"]!, ...asked)).toBe(2);
});
