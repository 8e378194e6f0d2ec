import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { type CoverPlan, planCovers } from "./covers.ts";
import type { Denied } from "./denied.ts";
import { isWithin } from "./grants.ts";

const denied = (files: readonly string[], folders: readonly string[] = []): Denied => ({
  paths: new Set([...files, ...folders]),
  folders: new Set(folders),
  identities: new Set(),
  generations: new Set(),
  version: "",
});

const options = { readOnly: [], kept: [], maskOf: () => "/mask", stashOf: () => "/stash" };

const plan = (what: Denied, ...writable: string[]) => {
  const { covers, rest } = runAtOnce(planCovers(what, { ...options, writable }));
  return { covers: covers.map(({ path, kind }) => `${kind} ${path}`), rest: [...rest] };
};

describe("a plan of mounts", () => {
  test("hides a file and a folder, and leaves what is denied elsewhere to the ruleset", () => {
    expect(plan(denied(["/root/.env", "/etc/shadow"], ["/root/private"]), "/root", "/tmp/x")).toEqual({
      covers: ["file /root/.env", "folder /root/private"],
      rest: ["/etc/shadow"],
    });
  });

  test("pins the folders between, from the top", () => {
    expect(plan(denied(["/root/a/b/key", "/root/a/key"]), "/root").covers).toEqual([
      "pinned /root/a",
      "pinned /root/a/b",
      "file /root/a/b/key",
      "file /root/a/key",
    ]);
  });

  test("pins a folder that may be written itself, in another one", () => {
    expect(plan(denied(["/root/a/key"]), "/root/a", "/root").covers).toEqual([
      "pinned /root/a",
      "file /root/a/key",
    ]);
  });

  test("hides a folder once, with what is denied in it", () => {
    expect(plan(denied(["/root/a/b/key"], ["/root/a"]), "/root")).toEqual({
      covers: ["folder /root/a"],
      rest: [],
    });
  });

  test("hides nothing where the whole folder is denied", () => {
    expect(plan(denied([], ["/root"]), "/root")).toEqual({ covers: [], rest: ["/root"] });
  });

  const planRoots = (readOnly: readonly string[], ...writable: string[]) =>
    runAtOnce(planCovers(denied(["/root/a/in/key"]), { ...options, writable, readOnly }));

  test("keeps a read-only folder, in a writable one or elsewhere, unless it is writable too", () => {
    const { covers, kept } = planRoots(["/root/a", "/other", "/root/b"], "/root", "/root/b");
    expect(covers.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      "kept /other",
      "pinned /root/a",
      "kept /root/a",
      "pinned /root/a/in",
      "file /root/a/in/key",
    ]);
    // These are what calls may not change, by globs.
    expect(kept).toEqual([]);
  });

  test("restores a writable folder in a read-only one, before what is hidden in it", () => {
    expect(planRoots(["/root/a"], "/root", "/root/a/in").covers).toEqual([
      { kind: "stashed", path: "/root/a/in", stash: "/stash" },
      { kind: "pinned", path: "/root/a" },
      { kind: "kept", path: "/root/a" },
      { kind: "pinned", path: "/root/a/in" },
      { kind: "restored", path: "/root/a/in", stash: "/stash" },
      { kind: "file", path: "/root/a/in/key", mask: "/mask" },
    ]);
  });
});

test("entries are planned one in each step", () => {
  const files = Array.from({ length: 50 }, (_, index) => `/root/${index}`);
  const kept = files.map((file) => `${file}.kept`);
  const steps = planCovers(denied(files), { ...options, writable: ["/root"], kept });
  expect([...steps].length).toBeGreaterThanOrEqual(100);
});

/**
 * Returns the denied files that a process can still read after these mounts, and the folders of denied files
 * that it can rename.
 */
function seen(files: readonly string[], covers: CoverPlan["covers"], writable: string) {
  const mounted = new Map<string, string>();
  for (const { path, kind } of covers) {
    // A mounted folder is empty, and a mount on a missing path fails.
    const isGone = [...mounted].some(([above, its]) => its === "folder" && path.startsWith(`${above}/`));
    expect(isGone).toBe(false);
    // A folder mounted on itself hides earlier mounts below it.
    if (kind === "pinned")
      for (const below of mounted.keys()) if (below.startsWith(`${path}/`)) mounted.delete(below);
    mounted.set(path, kind);
  }
  const above = (path: string) =>
    path
      .split("/")
      .map((_, index, parts) => parts.slice(0, index).join("/"))
      .filter((folder) => folder !== writable && isWithin(folder, writable));
  return files
    .filter((file) => file !== writable && isWithin(file, writable))
    .filter((file) => {
      const kinds = [...above(file), file].map((path) => mounted.get(path));
      const hidden = kinds.findIndex((kind) => kind === "file" || kind === "folder");
      return hidden < 0 || kinds.slice(0, hidden).some((kind) => kind !== "pinned");
    });
}

test("everything denied is hidden, in folders that stay where they are", () => {
  const name = fc.constantFrom("a", "b", "c");
  const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => `/root/${names.join("/")}`);
  fc.assert(
    fc.property(fc.uniqueArray(path, { maxLength: 8 }), fc.func(fc.boolean()), (paths, isFolder) => {
      const isAbove = (one: string) => paths.some((other) => other !== one && isWithin(other, one));
      const folders = paths.filter((one) => isAbove(one) || isFolder(one));
      const files = paths.filter((one) => !folders.includes(one));
      const { covers, rest } = runAtOnce(
        planCovers(denied(files, folders), { ...options, writable: ["/root"] }),
      );
      expect(seen(paths, covers, "/root")).toEqual([]);
      expect(rest.size).toBe(0);
    }),
    { numRuns: 500 },
  );
});
