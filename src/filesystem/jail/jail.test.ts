import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { Refusal } from "../../base/errors.ts";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import { backends, JailFixture } from "./jail.test-kit.ts";
import { type JailOptions, openJail } from "./jail.ts";

const deny = compileGlobSet([]);
const directory = process.cwd();
afterAll(() => process.chdir(directory));

function refusalOf(act: () => unknown): Refusal {
  try {
    act();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  return expect.unreachable();
}

/** Returns whether the backend keeps its hold on the folder; the other can only find it again by its path. */
const holdsOn = (backend: string) => backend !== "current-directory";

describe.each(backends)("%s", (backend) => {
  test("leaves nothing in the base", () => {
    using sandbox = new JailFixture();
    sandbox.jail(backend);
    expect(readdirSync(sandbox.base)).toEqual([]);
  });

  test("knows itself and its base by name", () => {
    using sandbox = new JailFixture();
    const jail = sandbox.jail(backend);
    expect(jail.backend).toBe(backend);
    expect(jail.baseName).toBe("base");
  });

  test("a base that is a link is resolved once", () => {
    using sandbox = new JailFixture({ "a.txt": "", "../link": { link: "base" } });
    const jail = openJail({ basePath: sandbox.at("../link"), deny, backend });
    sandbox.add({ "by-link": { link: "<root>/link/a.txt" } });
    jail.admit("by-link")[Symbol.dispose]();
    rmSync(sandbox.at("../link"));
    symlinkSync("outside", sandbox.at("../link"));
    jail.admit("a.txt")[Symbol.dispose]();
    expect(refusalOf(() => jail.admit("secret.txt")).reason).toBe("missing");
    jail.close();
  });

  test("a base that is gone is no missing file", () => {
    using sandbox = new JailFixture({ "d/": null });
    const jail = sandbox.jail(backend);
    using folder = jail.admitFolder("d");
    rmSync(sandbox.base, { recursive: true });
    for (const path of [".", "a.txt", "d/a.txt"]) {
      expect(refusalOf(() => jail.admit(path)).message).toContain("base folder is gone");
    }
    expect(() => folder.enter((at) => readdirSync(at(".")))).toThrow();
  });

  test("a base that was moved is read or missed, and never changed; a new folder in its place is never used", () => {
    using sandbox = new JailFixture({ "a.txt": "" });
    const jail = sandbox.jail(backend);
    renameSync(sandbox.base, sandbox.at("../moved"));
    mkdirSync(sandbox.base);
    sandbox.add({ "b.txt": "" });
    if (holdsOn(backend)) {
      jail.admit("a.txt")[Symbol.dispose]();
      const changed = () => jail.admit("a.txt", { changes: "entry" });
      expect(refusalOf(changed).message).toContain("base folder is gone");
    }
    expect(refusalOf(() => jail.admit("b.txt")).message).toContain("base folder is gone");
  });

  test("the root can be the base, and what is no file of a disk stays out", () => {
    const jail = openJail({ basePath: "/", deny, backend });
    for (const path of ["proc", "proc/self/environ", "proc/self/root/etc", "sys/kernel", "proc/nothing"]) {
      expect(refusalOf(() => jail.admit(path)).reason).toBe("missing");
    }
    expect(refusalOf(() => jail.admit("proc/x/y", { mayBeMissing: true, parents: true })).reason).toBe(
      "missing",
    );
    jail.admit("usr/bin/env")[Symbol.dispose]();
    expect(refusalOf(() => jail.admit("../usr")).reason).toBe("outside");
    jail.close();
  });

  test("a folder is held, and only a folder", () => {
    using sandbox = new JailFixture({ "d/a.txt": "", "to-d": { link: "d" } });
    const jail = sandbox.jail(backend);
    using folder = jail.admitFolder("to-d");
    expect(folder.names).toEqual(["d"]);
    expect(folder.requested).toBe("to-d");
    expect(folder.enter((at) => readdirSync(at(".")))).toEqual(["a.txt"]);
    using base = jail.admitFolder(".");
    expect(base.path).toBe("");
    using child = base.child("d");
    expect(child.path).toBe("d");
    expect(refusalOf(() => jail.admitFolder("d/a.txt")).reason).toBe("wrong-kind");
    expect(() => base.child("to-d")).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^E(LOOP|NOTDIR)$/) }),
    );
    expect(() => child.child("a.txt")).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
    expect(() => child.child("..")).toThrow("one name");
  });

  test("deny rules can be asked about names and about a name in a folder", () => {
    using sandbox = new JailFixture({ "d/": null });
    const jail = sandbox.jail(backend, ["d/*.pem"]);
    using folder = jail.admitFolder("d");
    expect(jail.denies(["d", "x.pem", "y"])).toBe(true);
    expect(jail.deniesIn(folder, "x.pem")).toBe(true);
    expect(jail.deniesIn(folder, "x.txt")).toBe(false);
    expect(jail.isTemporary(".coder-tmp-x")).toBe(true);
    using place = jail.admit("A", { mayBeMissing: true });
    expect(jail.fold(place)).toBe("A");
  });
});

describe("what keeps the worker from starting is said in one sentence", () => {
  const reason = (options: Partial<JailOptions>) => {
    try {
      openJail({ basePath: "/", deny, ...options }).close();
    } catch (error) {
      expect(error).not.toBeInstanceOf(Refusal);
      return (error as Error).message;
    }
    return expect.unreachable();
  };

  test("no folder", () => {
    using sandbox = new JailFixture({ "a.txt": "" });
    expect(reason({ basePath: sandbox.at("../nothing") })).toMatch(
      /^base_path ".*nothing" cannot be reached \(ENOENT\)\. Make the folder/,
    );
    expect(reason({ basePath: sandbox.at("a.txt") })).toMatch(/is a file; name a folder/);
    expect(reason({ basePath: "/proc/self" })).toMatch(/lies in a file system without files/);
  });

  test("holds folders by the backend that is wanted, else by one that works here", () => {
    expect(openJail({ basePath: "/", deny, backend: "current-directory" }).backend).toBe("current-directory");
    expect(backends).toContain(openJail({ basePath: "/", deny }).backend);
  });
});
