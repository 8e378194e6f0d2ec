import { afterAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Refusal } from "../../base/errors.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import type { AdmitOptions, Folder, Jail } from "./folder.ts";
import { backends, countDescriptorsBelow, JailFixture, lead, openRootsAtOnce } from "./jail.test-kit.ts";
import { openRootsJail, type RootsOptions } from "./jail.ts";
import { Roots } from "./roots.ts";

const directory = process.cwd();
afterAll(() => process.chdir(directory));

const tree = {
  "a/x.txt": "x",
  "a/.env": "password",
  "a/private/x.txt": "x",
  "a/deep/inner/y.txt": "y",
  "a/relative": { link: "../b/z.txt" },
  "a/absolute": { link: "<base>/b/z.txt" },
  "a/to-b": { link: "../b" },
  "a/own": { link: "<base>/a/x.txt" },
  "a/own-by-dots": { link: "deep/../../a/x.txt" },
  "a/to-inner": { link: "deep/inner/y.txt" },
  "a/up": { link: ".." },
  "b/z.txt": "z",
  "b/private/x.txt": "x",
  "outside.txt": "outside",
} as const;

const all = compileGlobSet(["**/.env", "b/hidden/**"]);

/** Opens a jail with the roots a, b (read-only) and inner, which lies in a. */
function open(fixture: JailFixture, options: Partial<RootsOptions> = {}): Jail {
  const roots = [
    { name: "a", path: fixture.at("a"), deny: compileGlobSet(["private/**"]) },
    { name: "b", path: fixture.at("b"), isReadOnly: true },
    { name: "inner", path: fixture.at("a/deep/inner") },
  ];
  return openRootsAtOnce({ roots, deny: all, ...options });
}

const namesIn = (folder: Folder): string[] => {
  const names: string[] = [];
  runAtOnce(folder.list((bytes, from, to) => names.push(bytes.toString("utf8", from, to))));
  return names.sort();
};

function refusalOf(jail: Jail, path: string, options: AdmitOptions = {}): Refusal {
  try {
    jail.admit(path, options)[Symbol.dispose]();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  return expect.unreachable();
}

describe.each(backends)("%s", (backend) => {
  test("the roots are the entries of one folder", () => {
    using fixture = new JailFixture(tree);
    const jail = open(fixture, { backend });
    using top = jail.admitFolder(".");
    expect(namesIn(top)).toEqual(["a", "b", "inner"]);
    using folder = jail.admitFolder("a/deep");
    expect([folder.path, namesIn(folder)]).toEqual(["a/deep", ["inner"]]);
    const leads = ["a/x.txt", "./b/../a/x.txt", "a", "a/..", "inner/y.txt", "a/own"].map((path) =>
      lead(jail, path),
    );
    expect(leads).toEqual(["at:a/x.txt", "at:a/x.txt", "at:a", "at:", "at:inner/y.txt", "at:a/x.txt"]);
    using target = jail.resolveForRead("inner/y.txt");
    expect(target.stats?.size).toBe(1);
    jail.close();
  });

  test("no link leads from one root into another, nor through the folder above it", () => {
    using fixture = new JailFixture(tree);
    const jail = open(fixture, { backend });
    const paths = ["relative", "absolute", "to-b/z.txt", "up/b/z.txt", "up", "own-by-dots"];
    expect(paths.map((path) => [path, lead(jail, `a/${path}`)])).toEqual(
      paths.map((path) => [path, "outside"]),
    );
    expect(["..", "../x", "a/../..", "a/../../base/a/x.txt"].map((path) => lead(jail, path))).toEqual(
      Array(4).fill("outside"),
    );
    expect(["outside.txt", "a/../outside.txt", "none/x"].map((path) => lead(jail, path))).toEqual(
      Array(3).fill("missing"),
    );
    jail.close();
  });

  test("globs hold from the top, those of a root from there, and a root in another has one path", () => {
    using fixture = new JailFixture(tree);
    const jail = open(fixture, { backend });
    const paths = ["a/.env", "a/private/x.txt", "a/deep/inner/y.txt", "a/deep/inner", "a/to-inner"];
    expect(paths.map((path) => lead(jail, path))).toEqual(Array(5).fill("denied"));
    expect(lead(jail, "b/hidden/x")).toBe("denied");
    expect(lead(jail, "b/private/x.txt")).toBe("at:b/private/x.txt");
    using folder = jail.admitFolder("a/deep");
    expect(jail.deniesIn(folder, "inner")).toBe(true);
    expect(jail.deniesBytesIn(folder, Buffer.from("inner"), 0, 5)).toBe(true);
    using top = jail.admitFolder(".");
    expect(["a", "b", "inner"].map((name) => jail.deniesIn(top, name))).toEqual([false, false, false]);
    expect(jail.denies(["a", "deep", "inner", "y.txt"])).toBe(true);
    jail.close();
  });

  test("the top, the roots themselves and what is in a read-only one are not changed", () => {
    using fixture = new JailFixture(tree);
    const jail = open(fixture, { backend });
    const changing = { changes: "tree", mayBeMissing: true, parents: true } as const;
    for (const path of [".", "a", "b", "new", "new/deep", "a/.."]) {
      const { reason, message } = refusalOf(jail, path, changing);
      expect([path, reason]).toEqual([path, "protected"]);
      expect(message).toContain('Choose a path in "a/" or "inner/"');
    }
    for (const path of ["b/z.txt", "b/new", "b/new/deep"]) {
      const { reason, message } = refusalOf(jail, path, changing);
      expect([path, reason]).toEqual([path, "protected"]);
      expect(message).toContain('in the root "b", which is read-only');
    }
    expect(lead(jail, "a/new/deep", changing)).toBe("new:a/new/deep");
    expect(refusalOf(jail, "a/.env", changing).reason).toBe("denied");
    jail.close();
  });

  test("a root that vanishes is refused, others go on, and it works again when it is back", () => {
    using fixture = new JailFixture(tree);
    const jail = open(fixture, { backend });
    rmSync(fixture.at("b"), { recursive: true });
    for (const path of ["b", "b/z.txt", "b/new"]) {
      const { reason, message } = refusalOf(jail, path);
      expect([path, reason]).toEqual([path, "io"]);
      expect(message).toContain('The root "b" is gone');
    }
    expect(lead(jail, "a/x.txt")).toBe("at:a/x.txt");
    fixture.add({ b: { link: "outside" } });
    expect(refusalOf(jail, "b/secret.txt").reason).toBe("io");
    rmSync(fixture.at("b"));
    fixture.add({ "b/z.txt": "new" });
    expect(lead(jail, "b/z.txt")).toBe("at:b/z.txt");
    expect(refusalOf(jail, "b/z.txt", { changes: "entry" }).reason).toBe("protected");
    jail.close();
  });

  test("descriptors are released, those of roots that came back as well", () => {
    using fixture = new JailFixture(tree);
    const jail = open(fixture, { backend });
    for (let round = 0; round < 3; round++) {
      rmSync(fixture.at("b"), { recursive: true });
      fixture.add({ "b/z.txt": "z" });
      expect(lead(jail, "b/z.txt")).toBe("at:b/z.txt");
    }
    expect(lead(jail, "a/relative")).toBe("outside");
    jail.close();
    expect(countDescriptorsBelow(fixture.root)).toBe(0);
  });
});

test("what takes the place of a root while that is opened again is not served", () => {
  using fixture = new JailFixture(tree);
  let onOpen = () => {};
  const b = {
    name: "b",
    path: fixture.at("b"),
    get deny() {
      onOpen();
      return undefined;
    },
  };
  const roots = runAtOnce(Roots.open([b], { deny: all }));
  rmSync(fixture.at("b"), { recursive: true });
  mkdirSync(fixture.at("b"));
  onOpen = () => {
    renameSync(fixture.at("b"), fixture.at("c"));
    symlinkSync(fixture.at("a"), fixture.at("b"));
  };
  expect(roots.reach("b")).toBeUndefined();
  onOpen = () => {};
  rmSync(fixture.at("b"));
  renameSync(fixture.at("c"), fixture.at("b"));
  expect(roots.reach("b")?.base).toBe(fixture.at("b"));
  roots.close();
  expect(countDescriptorsBelow(fixture.root)).toBe(0);
});

test("a root that is opened again has the spelling of its path that the operator gave", () => {
  using fixture = new JailFixture({ ...tree, "other-name": { link: "b" } });
  const roots = runAtOnce(Roots.open([{ name: "b", path: fixture.at("other-name") }], { deny: all }));
  const { linkRoots } = roots.at("b")!;
  expect(linkRoots.length).toBe(2);
  rmSync(fixture.at("b"), { recursive: true });
  mkdirSync(fixture.at("b"));
  expect(roots.reach("b")?.linkRoots).toEqual(linkRoots);
  roots.close();
});

test("a host path leads into the innermost root that it lies in", () => {
  using fixture = new JailFixture(tree);
  const jail = open(fixture, { paths: "either" });
  const at = (path: string) => lead(jail, `${fixture.base}/${path}`);
  expect(["a/x.txt", "a", "a/deep/inner/y.txt"].map(at)).toEqual(["at:a/x.txt", "at:a", "at:inner/y.txt"]);
  expect(at("a/deep/inner/../../x.txt")).toBe("denied");
  expect(["outside.txt", "b/../a/x.txt", "../outside/secret.txt", "."].map(at)).toEqual(
    Array(4).fill("outside"),
  );
  expect(lead(jail, "a/x.txt")).toBe("at:a/x.txt");
  jail.close();
});

test("two roots of one folder are refused, and one that is not there", () => {
  using fixture = new JailFixture(tree);
  const twice = [
    { name: "a", path: fixture.at("a") },
    { name: "c", path: fixture.at("b/../a") },
  ];
  expect(() => open(fixture, { roots: twice })).toThrow('The roots "a" and "c" are one folder');
  const missing = [{ name: "a", path: fixture.at("nothing") }];
  expect(() => open(fixture, { roots: missing })).toThrow('of the root "a" cannot be reached');
});

test("a read-only root is not tried for case by a file in it", () => {
  using fixture = new JailFixture(tree);
  const before = statSync(fixture.at("b")).mtimeMs;
  open(fixture).close();
  expect(statSync(fixture.at("b")).mtimeMs).toBe(before);
  expect(readdirSync(fixture.at("b")).sort()).toEqual(["private", "z.txt"]);
});

/** A file system different from that of temporary files, if this machine has one. */
const elsewhere = ["/dev/shm", "/run/shm"].filter((path) => existsSync(path));

test("a root may lie on another file system, and is not changed once it was moved away", () => {
  using fixture = new JailFixture(tree);
  const other = mkdtempSync(join(elsewhere[0] ?? tmpdir(), "coder-"));
  try {
    mkdirSync(join(other, "d"));
    const roots = [
      { name: "a", path: fixture.at("a") },
      { name: "other", path: join(other, "d") },
    ];
    const jail = open(fixture, { roots });
    const changing = { changes: "entry", mayBeMissing: true } as const;
    expect(lead(jail, "other/new", changing)).toBe("new:other/new");
    renameSync(join(other, "d"), join(other, "e"));
    expect(lead(jail, "other/new", changing)).toBe("io");
    renameSync(join(other, "e"), join(other, "d"));
    expect(lead(jail, "other/new", changing)).toBe("new:other/new");
    jail.close();
  } finally {
    rmSync(other, { recursive: true });
  }
});

describe("a root whose folder is not there", () => {
  test("does not keep the others from being served", () => {
    using fixture = new JailFixture(tree);
    const roots = [
      { name: "a", path: fixture.at("a") },
      { name: "late", path: fixture.at("late") },
    ];
    const jail = openRootsAtOnce({ roots, deny: all });
    expect(jail.roots.map(({ name }) => name)).toEqual(["a"]);
    expect(jail.missingRoots).toEqual([{ name: "late", path: fixture.at("late"), reason: "ENOENT" }]);
    expect(refusalOf(jail, "late/x.txt").message).toContain('The root "late" is not served');
    mkdirSync(fixture.at("late"));
    expect(refusalOf(jail, "late/x.txt").message).toContain('The root "late" is not served');
    jail.close();
  });

  test("keeps the jail from opening if no other folder is there", () => {
    using fixture = new JailFixture(tree);
    const roots = ["one", "two"].map((name) => ({ name, path: fixture.at(name) }));
    expect(() => openRootsAtOnce({ roots, deny: all })).toThrow(
      /of the root "one" cannot be reached \(ENOENT\)/,
    );
  });
});

test("each root is looked for and opened in a step of its own", () => {
  const names = Array.from({ length: 20 }, (_, index) => `root${index}`);
  using fixture = new JailFixture(Object.fromEntries(names.map((name) => [`${name}/file`, ""])));
  const opening = openRootsJail({
    roots: names.map((name) => ({ name, path: fixture.at(name) })),
    deny: all,
  });
  const opened: number[] = [];
  let step = opening.next();
  for (; !step.done; step = opening.next()) opened.push(countDescriptorsBelow(fixture.root));
  expect(opened.length).toBe(2 * names.length);
  expect(new Set(opened).size).toBe(names.length + 1);
  step.value.close();
});
