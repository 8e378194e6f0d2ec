import { afterAll, expect, test } from "bun:test";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { type Denied, openDenied, readDenied } from "./denied.ts";
import { areUnchanged, grantAround, ungrantedAt } from "./grants.ts";
import { listAccess, readAccess } from "./landlock.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function buildTree(files: readonly string[]): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  folders.push(root);
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), file);
  }
  return root;
}

/** Returns the parts of the grants around denied entries, and the folders that are granted entry by entry. */
function grantParts(folder: string, access: bigint, denied: Denied) {
  const split = new Map<string, string>();
  const ungranted = runAtOnce(ungrantedAt(denied.paths));
  const parts = [...grantAround(folder, { access, ungranted, split })];
  return { parts, split: [...split.keys()] };
}

function grantsOf(folder: string, access: bigint, denied: Denied) {
  const { parts, split } = grantParts(folder, access, denied);
  return { grants: parts.flat(), split };
}

/**
 * Returns the access to a path as landlock(7) computes it, from all rules for it and for folders above it.
 */
function accessTo(root: string, denied: readonly string[], path: string): bigint {
  const { grants } = grantsOf(root, readAccess, readDenied(denied, [root]));
  return grants
    .filter((grant) => path === grant.path || path.startsWith(`${grant.path}/`))
    .reduce((sum, grant) => sum | grant.access, 0n);
}

test("a folder without anything denied is one grant", () => {
  const root = buildTree(["a/b", "c"]);
  expect(grantsOf(root, readAccess, readDenied([], [root]))).toEqual({
    grants: [{ path: root, access: readAccess }],
    split: [],
  });
});

test("the folders above something denied are granted entry by entry, and themselves for listing", () => {
  const root = buildTree(["a/secret", "a/b/c", "d/e"]);
  const { grants, split } = grantsOf(root, readAccess, readDenied([join(root, "a/secret")], [root]));
  expect(split).toEqual([root, join(root, "a")]);
  expect(new Map(grants.map(({ path, access }) => [path.slice(root.length), access]))).toEqual(
    new Map([
      ["", listAccess],
      ["/a", listAccess],
      ["/a/b", readAccess],
      ["/d", readAccess],
    ]),
  );
});

test("a denied folder is not granted, and nothing in it if it is the whole", () => {
  const root = buildTree(["a/b", "c"]);
  expect(accessTo(root, [join(root, "a")], join(root, "a/b"))).toBe(listAccess);
  expect(grantsOf(join(root, "a"), readAccess, readDenied([root], [root])).grants).toEqual([]);
});

test("what a denied link leads to is denied, and so are other names of a denied file", () => {
  const root = buildTree(["a/file", "b/c"]);
  symlinkSync(join(root, "a/file"), join(root, "link"));
  linkSync(join(root, "a/file"), join(root, "b/other"));
  for (const name of ["a/file", "b/other"]) {
    expect(accessTo(root, [join(root, "link")], join(root, name))).toBe(listAccess);
  }
  expect(accessTo(root, [join(root, "link")], join(root, "b/c"))).toBe(readAccess);
});

test("a denied path that is not there denies nothing, until something is there", () => {
  const root = buildTree(["a/b"]);
  const before = readDenied([join(root, "a/new")], [root]);
  expect(grantsOf(root, readAccess, before).split).toEqual([]);
  writeFileSync(join(root, "a/new"), "");
  const after = readDenied([join(root, "a/new")], [root]);
  expect(after.version).not.toBe(before.version);
  expect(grantsOf(root, readAccess, after).split).toEqual([root, join(root, "a")]);
});

test("another name of a denied file is looked for anew when a folder above it is renamed", () => {
  const root = buildTree(["key", "a/b"]);
  linkSync(join(root, "key"), join(root, "a/other"));
  const before = readDenied([join(root, "key")], [root]);
  renameSync(join(root, "a"), join(root, "c"));
  const after = readDenied([join(root, "key")], [root]);
  expect(after.paths).toContain(join(root, "c/other"));
  expect(after.version).not.toBe(before.version);
});

test("what a denied link has led to stays denied when a command has replaced the link", () => {
  const root = buildTree(["kept/file", "a/b"]);
  const link = join(root, "a/link");
  symlinkSync(join(root, "kept/file"), link);
  const open = openDenied({ denied: [link], writable: [root] });
  const read = () => runAtOnce(open());
  expect(read().paths).toEqual(new Set([join(root, "kept/file")]));
  unlinkSync(link);
  symlinkSync(join(root, "a/b"), link);
  expect(read().paths).toEqual(new Set([join(root, "kept/file"), join(root, "a/b")]));
});

test("other names of a denied file are searched in steps", () => {
  const root = buildTree(["key", ...Array.from({ length: 50 }, (_, index) => `a/${index}/b`)]);
  const open = openDenied({ denied: [join(root, "key")], writable: [root] });
  expect([...open()]).toEqual([]);
  linkSync(join(root, "key"), join(root, "a/7/other"));
  expect([...open()].length).toBeGreaterThan(100);
  expect(runAtOnce(open()).paths).toEqual(new Set([join(root, "key"), join(root, "a/7/other")]));
});

test("denied paths are read one in each step", () => {
  const root = buildTree(Array.from({ length: 50 }, (_, index) => String(index)));
  const denied = Array.from({ length: 50 }, (_, index) => join(root, String(index)));
  const open = openDenied({ denied: [], findDenied: () => denied, writable: [root] });
  expect([...open()].length).toBeGreaterThanOrEqual(2 * denied.length);
  expect([...ungrantedAt(denied)].length).toBeGreaterThanOrEqual(denied.length);
});

test("folders are compared with their versions one in each step", () => {
  const names = Array.from({ length: 50 }, (_, index) => String(index));
  const root = buildTree(names.map((name) => `${name}/secret`));
  const split = new Map<string, string>();
  const ungranted = runAtOnce(ungrantedAt(names.map((name) => join(root, name, "secret"))));
  for (const _ of grantAround(root, { access: readAccess, ungranted, split }));
  expect([...areUnchanged(split)].length).toBe(split.size);
  expect(runAtOnce(areUnchanged(split))).toBe(true);
  rmSync(join(root, "7"), { recursive: true });
  expect(runAtOnce(areUnchanged(split))).toBe(false);
});

test("the entries of a folder are granted in parts", () => {
  const names = Array.from({ length: 9000 }, (_, index) => String(index));
  const root = buildTree(["secret", ...names]);
  const { parts } = grantParts(root, readAccess, readDenied([join(root, "secret")], [root]));
  expect(Math.max(...parts.map((part) => part.length))).toBeLessThan(3000);
  const paths = parts.flat().map(({ path }) => path);
  expect(paths.toSorted()).toEqual([root, ...names.map((name) => join(root, name))].toSorted());
});

test("links and folders that go meanwhile get no grant", () => {
  const root = buildTree(["a/secret", "a/b", "c"]);
  symlinkSync(join(root, "c"), join(root, "link"));
  const ungranted = runAtOnce(ungrantedAt([join(root, "a/secret")]));
  const split = new Map<string, string>();
  const found: string[] = [];
  for (const part of grantAround(root, { access: readAccess, ungranted, split })) {
    rmSync(join(root, "a"), { recursive: true, force: true });
    found.push(...part.map(({ path }) => path.slice(root.length)));
  }
  expect(found.toSorted()).toEqual(["", "/c"]);
});

test("every file can be read but what is denied or in a denied folder", () => {
  const name = fc.constantFrom("a", "b", "c");
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
  const tree = fc.uniqueArray(path, { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(tree, fc.array(path, { maxLength: 3 }), (paths, chosen) => {
      // A path is a folder if another path goes through it.
      const files = paths.filter((file) => !paths.some((other) => other.startsWith(`${file}/`)));
      const root = buildTree(files);
      const denied = chosen.map((one) => join(root, one));
      for (const file of files.map((one) => join(root, one))) {
        const isDenied = denied.some((one) => file === one || file.startsWith(`${one}/`));
        expect(accessTo(root, denied, file) & ~listAccess).toBe(isDenied ? 0n : readAccess & ~listAccess);
      }
    }),
    { numRuns: 60 },
  );
});
