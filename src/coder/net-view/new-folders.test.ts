/** Tests that links and empty folders in folders that other programs make are named. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { addToTree } from "../../../tests/harness/tree.ts";
import { SessionsFixture } from "../sessions.test-kit.ts";
import type { NetChange } from "./answer.ts";

type Act = (at: (path: string) => string) => void;

function makeFolder(at: (path: string) => string): void {
  mkdirSync(at("d/e"), { recursive: true });
  for (const name of ["a.txt", "b.txt"]) writeFileSync(at(`d/${name}`), `${name}\n`);
  symlinkSync("a.txt", at("d/old"));
}

function remake(at: (path: string) => string): void {
  rmSync(at("d"), { recursive: true });
  makeFolder(at);
}

/** Makes a folder with files, links and empty folders, and hidden ones of them. */
function makeAnother(at: (path: string) => string): void {
  mkdirSync(at("n/deep/empty"), { recursive: true });
  mkdirSync(at("n/skipped"));
  mkdirSync(at("n/with-skipped/skipped"), { recursive: true });
  writeFileSync(at("n/.gitignore"), "skipped\n");
  writeFileSync(at("n/deep/f.txt"), "f\n");
  symlinkSync("f.txt", at("n/deep/ln"));
  symlinkSync("f.txt", at("n/skipped/ln"));
  symlinkSync("/etc", at("n/outside"));
  symlinkSync("nowhere", at("n/.env"));
}

const perhaps = ["perhaps modified d/a.txt", "perhaps modified d/b.txt", "perhaps modified d/old"];

/** The acts of another program, and the changes by name and in numbers. */
const cases: Record<string, readonly [act: Act, names: readonly string[], stat?: readonly string[]]> = {
  "a new link in a folder that is made again": [
    (at) => {
      remake(at);
      symlinkSync("a.txt", at("d/ln"));
    },
    [...perhaps.slice(0, 2), "created d/ln", perhaps[2]!],
  ],
  "a new folder in one that is made again": [
    (at) => {
      remake(at);
      mkdirSync(at("d/new/in"), { recursive: true });
    },
    [...perhaps.slice(0, 2), "created d/new/in/", perhaps[2]!],
  ],
  "a link that is gone": [
    (at) => {
      remake(at);
      unlinkSync(at("d/old"));
    },
    ["deleted d/old", ...perhaps.slice(0, 2)],
  ],
  "a new link in an existing folder": [(at) => symlinkSync("a.txt", at("d/ln")), ["created d/ln"]],
  "a new folder": [
    makeAnother,
    [
      "created n/, 2 files",
      "created n/deep/empty/",
      "created n/deep/ln",
      "created n/outside",
      "created n/with-skipped/",
    ],
    [
      "created n/.gitignore",
      "created n/deep/empty/",
      "created n/deep/f.txt",
      "created n/deep/ln",
      "created n/outside",
      "created n/with-skipped/",
    ],
  ],
};

function render({ kind, path, from, dir, files, unsure }: NetChange): string {
  const mark = dir ? "/" : "";
  const was = from === undefined ? "" : ` from ${from}${mark}`;
  const count = files === undefined ? "" : `, ${files} files`;
  return `${unsure ? "perhaps " : ""}${kind} ${path}${mark}${was}${count}`;
}

describe.each(Object.entries(cases))("%s", (_, [act, names, stat = names]) => {
  test.each(["names", "stat", "diff"])("is in an answer of the form %s", async (answer) => {
    await using fixture = new SessionsFixture();
    const { call } = fixture.open({ session: "a" });
    const at = (path: string) => fixture.at(path);
    makeFolder(at);
    const { next: since, external } = await call("coder::changes");
    if (!external) return;
    act(at);
    const { net } = await call("coder::changes", { since, answer });
    expect(net.map(render)).toEqual([...(answer === "names" ? names : stat)]);
  });
});

test("a link and an empty folder are moved with a folder whose earlier path has another one", async () => {
  await using fixture = new SessionsFixture();
  const { call } = fixture.open({ session: "a" });
  makeFolder((path) => fixture.at(path));
  const { next: since, external } = await call("coder::changes");
  if (!external) return;
  await call("coder::move", { files: [{ from: "d", to: "f" }] });
  addToTree(fixture.base, { "d/new": "new\n" });
  const { net } = await call("coder::changes", { since, answer: "stat" });
  const moved = ["a.txt", "b.txt", "e/", "old"].map((name) => `moved f/${name} from d/${name}`);
  expect(net.map(render)).toEqual([...moved, "created d/new", "created f/"]);
});

test("pages by name have each path once", async () => {
  await using fixture = new SessionsFixture();
  const { call } = fixture.open({ session: "a" });
  const { next: since } = await call("coder::changes");
  addToTree(fixture.base, { "n/a": "a\n", "n/b": "b\n", z: "z\n" });
  symlinkSync("a", fixture.at("n/ln"));
  const pages: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await call("coder::changes", {
      since,
      answer: "names",
      limit: 1,
      ...(cursor && { cursor }),
    });
    pages.push(...page.net.map(render));
    cursor = page.next_cursor;
    if (cursor === undefined) break;
  }
  expect(pages).toEqual(["created n/, 2 files", "created n/ln", "created z"]);
});
