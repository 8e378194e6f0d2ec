import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Refusal } from "../../base/errors.ts";
import { ConfigError } from "../../config/file.ts";
import { defaultConfig } from "../config.ts";
import { loadConfig, openCoder } from "../services.ts";
import { withRoots } from "./roots-config.ts";

const load = (keys: object, basePath?: string) =>
  loadConfig({ config: { source: "c.yaml", keys: keys as never }, basePath, environment: {} });

function problem(keys: object, basePath?: string): string {
  try {
    load(keys, basePath);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("accepted");
}

const root = (name: string, more: object = {}) => ({ name, path: `/srv/${name}`, ...more });

describe("folders of the command line", () => {
  const rootsOf = (folders: string[], keys: object = {}) => {
    const config = withRoots({ source: "c.yaml", keys: keys as never }, folders);
    return loadConfig({ config, basePath: undefined, environment: {} }).roots;
  };

  test("are roots with the names of the folders", () => {
    const folders = ["/a/app", "/b/app/", "/b/My Projects", "/b/.config", "/"];
    expect(rootsOf(folders, { base_path: "/x" })).toMatchObject([
      { name: "app", path: "/a/app" },
      { name: "app-2", path: "/b/app" },
      { name: "My-Projects", path: "/b/My Projects" },
      { name: "config", path: "/b/.config" },
      { name: "folder", path: "/" },
    ]);
    expect(rootsOf(["a", `/${"x".repeat(200)}`])).toMatchObject([
      { name: "a", path: join(process.cwd(), "a") },
      { name: "x".repeat(60) },
    ]);
  });

  test("do not go with roots of the configuration", () => {
    expect(() => rootsOf(["/a", "/b"], { roots: [root("c")] })).toThrow("folders on the command line");
  });
});

describe("roots that cannot be served together", () => {
  test.each([
    ["none", { roots: [] }, "is empty"],
    ["beside base_path", { base_path: "/x", roots: [root("a")] }, "beside base_path"],
    ["two of one name", { roots: [root("a"), root("a")] }, 'two of them have the name "a"'],
    ["a name that is a path", { roots: [root("a/b")] }, '"a/b" is no name of a root'],
    ["a name that steps back", { roots: [root("..")] }, '".." is no name of a root'],
    ["a name of temporary files", { roots: [root(".coder-tmp-1")] }, "does not begin with"],
    ["the base among others", { roots: [root("."), root("a")] }, "unless it is the only one"],
    [
      "a glob that is none",
      { roots: [root("a", { non_accessible_globs: ["[a"] })] },
      "a: non_accessible_globs:",
    ],
    ["a key that there is not", { roots: [root("a", { readonly: true })] }, "readonly"],
  ])("%s", (_, keys, says) => expect(problem(keys)).toContain(says));

  test("the default base_path, which the registry's configuration has, and null", () => {
    const roots = [root("a")];
    for (const base_path of ["./", null])
      expect(load({ base_path, roots }).roots).toMatchObject([{ name: "a", path: "/srv/a" }]);
    expect(load({ base_path: null }).base_path).toBe("./");
  });

  test("a folder on the command line", () => {
    expect(problem({ roots: [root("a")] }, "/x")).toContain("--base-path");
    expect(load({ base_path: "/y" }, "/x").base_path).toBe("/x");
  });
});

test("one root with the name of the base is the base, read-only if it says so", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  try {
    mkdirSync(join(folder, "private"));
    writeFileSync(join(folder, "a.txt"), "a");
    writeFileSync(join(folder, "private/b.txt"), "b");
    const only = { name: ".", path: folder, read_only: true, non_accessible_globs: ["private/**"] };
    const { jail, serves, close } = await openCoder({ ...defaultConfig(), roots: [only] });
    expect(serves).toMatchObject({ base_path: folder });
    expect([jail.hasTop, jail.roots]).toEqual([false, [{ name: ".", hostPath: folder, isReadOnly: true }]]);
    using place = jail.admit("a.txt");
    expect(place.path).toBe("a.txt");
    expect(() => jail.admit("private/b.txt")).toThrow(Refusal);
    expect(() => jail.admit("a.txt", { changes: "entry" })).toThrow("protects");
    await close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("several are named in the log, in whatever state folder", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  try {
    const roots = ["b", "a"].map((name) => {
      mkdirSync(join(folder, name));
      return { name, path: join(folder, name), read_only: false, non_accessible_globs: [] };
    });
    const { serves, close } = await openCoder({ ...defaultConfig(), roots });
    expect(serves).toEqual({ roots: `b=${folder}/b a=${folder}/a`, config: "defaults" });
    await close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
