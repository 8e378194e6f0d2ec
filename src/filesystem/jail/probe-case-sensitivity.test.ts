import { describe, expect, test } from "bun:test";
import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Folder, JailedPath, Name } from "./folder.ts";
import { JailFixture } from "./jail.test-kit.ts";
import { isCaseInsensitive, type Trial } from "./probe-case-sensitivity.ts";

/** Returns a folder on a made-up file system that stores every name as `store` spells it. */
function folderStoring(base: string, store: (name: string) => string): Folder {
  const at = (name: Name) => join(base, store(name as string)) as unknown as JailedPath;
  return { enter: <T>(act: (at: (name: Name) => JailedPath) => T) => act(at) } as unknown as Folder;
}

const exact = (name: string) => name;
const caseInsensitive = (name: string) => name.toLowerCase();
const normalizing = (name: string) => name.normalize("NFC");

describe("by a name of its own", () => {
  test.each([
    [exact, false],
    [caseInsensitive, true],
    [normalizing, true],
  ])("%p", (store, expected) => {
    using sandbox = new JailFixture();
    expect(isCaseInsensitive(folderStoring(sandbox.base, store), { isKnownExact: false })).toBe(expected);
    expect(readdirSync(sandbox.base)).toEqual([]);
  });
});

describe("by the names that are there, where none can be made", () => {
  const readOnly = (base: string, store: (name: string) => string) =>
    folderStoring(base, (name) => (name.startsWith(".coder-tmp-") ? "missing/x" : store(name)));

  test.each([
    [exact, false],
    [caseInsensitive, true],
  ])("%p", (store, expected) => {
    using sandbox = new JailFixture();
    writeFileSync(join(sandbox.base, "readme"), "");
    writeFileSync(join(sandbox.base, "1"), "");
    expect(isCaseInsensitive(readOnly(sandbox.base, store), { isKnownExact: false })).toBe(expected);
  });

  test("where nothing can be tried they are taken for one, unless the kind of file system tells otherwise", () => {
    using sandbox = new JailFixture();
    for (const isKnownExact of [true, false])
      expect(isCaseInsensitive(readOnly(sandbox.base, exact), { isKnownExact })).toBe(!isKnownExact);
  });
});

describe("where no file is to be made", () => {
  const outcome = (store: (name: string) => string, rules: { isKnownExact: boolean; trial: Trial }) => {
    using sandbox = new JailFixture();
    for (const name of ["readme", "1"]) writeFileSync(join(sandbox.base, name), "");
    const before = statSync(sandbox.base).ctimeMs;
    const isOne = isCaseInsensitive(folderStoring(sandbox.base, store), rules);
    return [isOne, statSync(sandbox.base).ctimeMs === before ? "left alone" : "changed"];
  };

  test("the names that are there tell on a file system that is known", () => {
    for (const trial of ["no-file", "new-file-last"] as const) {
      expect(outcome(exact, { isKnownExact: true, trial })).toEqual([false, "left alone"]);
      expect(outcome(caseInsensitive, { isKnownExact: true, trial })).toEqual([true, "left alone"]);
    }
  });

  test("elsewhere they are taken for one, or a file is made", () => {
    expect(outcome(exact, { isKnownExact: false, trial: "no-file" })).toEqual([true, "left alone"]);
    expect(outcome(exact, { isKnownExact: false, trial: "new-file-last" })).toEqual([false, "changed"]);
  });

  test("two names that differ in case only are no sign of one", () => {
    using sandbox = new JailFixture({ readme: "", README: "" });
    const rules = { isKnownExact: true, trial: "no-file" } as const;
    expect(isCaseInsensitive(folderStoring(sandbox.base, exact), rules)).toBe(false);
  });
});

test("a jail over a folder it may not write to opens all the same", () => {
  using sandbox = new JailFixture({ "a.txt": "" });
  chmodSync(sandbox.base, 0o555);
  expect(() => sandbox.jail("descriptors").admit("a.txt")[Symbol.dispose]()).not.toThrow();
  chmodSync(sandbox.base, 0o755);
});
