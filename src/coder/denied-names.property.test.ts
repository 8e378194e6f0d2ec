/**
 * Tests that a path whose sent names are denied has one answer in the profile `agent`, regardless of the disk
 * (coder §13).
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { defaultOtherPaths } from "../../tests/harness/path-arguments.ts";
import { propertyRuns } from "../../tests/harness/random.ts";
import { buildTree, compareSnapshots, snapshotTree, type Tree } from "../../tests/harness/tree.ts";
import { pathCalls } from "../../tests/security/calls.ts";
import { createLog } from "../base/log/log.ts";
import { createInvoke, type Invoke } from "../calls/invoke.ts";
import { defaultConfig } from "./config.ts";
import { functions } from "./functions.ts";
import { type CoderRuntime, openCoder } from "./services.ts";

const layouts = [
  { name: "one base", prefix: "" },
  { name: "one of two roots", prefix: "one/" },
];

const folder = fc.constantFrom("a", "b", "link", "file", "missing", ".", "..");
/** Denied paths, and the glob of the defaults that denies each. */
const denied = fc.constantFrom(
  [".env", "**/.env"],
  [".env.local", "**/.env.*"],
  ["secrets/x", "**/secrets/**"],
  [".env/x", "**/.env"],
  ["a.pem", "**/*.pem"],
);
const thing = fc.constantFrom("nothing", "file", "folder", "link", "outward", "fifo");

describe.each(layouts)("$name", ({ prefix }) => {
  let root: string;
  let state: string;
  let runtime: CoderRuntime;
  let invoke: Invoke;

  beforeAll(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
    state = realpathSync(mkdtempSync(join(tmpdir(), "coder-state-")));
    for (const path of ["base/one", "base/two"]) mkdirSync(join(root, path), { recursive: true });
    const named = (name: string) => ({
      name,
      path: join(root, "base", name),
      read_only: false,
      non_accessible_globs: [],
    });
    const folders =
      prefix === "" ? { base_path: join(root, "base") } : { roots: [named("one"), named("two")] };
    runtime = await openCoder(
      {
        ...defaultConfig(),
        ...folders,
        profile: "agent",
        unknown_fields: "ignore",
        journal: { dir: state, max_bytes: 1024 * 1024, max_records: 500 },
      },
      { environment: {} },
    );
    invoke = createInvoke(runtime, createLog({ level: "error", form: "text", write: () => undefined }));
  });
  afterAll(async () => {
    await runtime.close();
    for (const path of [root, state]) rmSync(path, { recursive: true });
  });

  /** Builds the tree below the root folder, which the worker holds open and which is not replaced. */
  const build = (tree: Tree) => {
    const above =
      prefix === ""
        ? tree
        : Object.fromEntries(Object.entries(tree).map(([path, one]) => [`one/${path}`, one]));
    buildTree(root, { ...above, "two/": null, "one/": null });
  };

  const others = { there: `${prefix}${defaultOtherPaths.there}`, free: `${prefix}${defaultOtherPaths.free}` };

  test.each(pathCalls.map((one) => [one.name, one] as const))("%s", async (_, { id, payload }) => {
    const definition = functions.find((one) => one.id === id)!;
    await fc.assert(
      fc.asyncProperty(
        fc.array(folder, { maxLength: 2 }),
        denied,
        thing,
        async (folders, [name, glob], kind) => {
          const path = [...folders, name].join("/");
          fc.pre(!climbs(folders));
          const common: Tree = {
            "a/": null,
            "b/": null,
            link: { link: "a" },
            file: "",
            [defaultOtherPaths.there]: "",
          };
          build({ ...common, ...treeOf(plain(path), kind) });
          const before = snapshotTree(root);
          const outcome = await invoke(definition, payload(`${prefix}${path}`, others));
          expect(compareSnapshots(snapshotTree(root), before)).toEqual([]);
          const { code, message, reason } = errorOf(outcome);
          expect([code, reason]).toEqual(["C211", "denied"]);
          expect(message).toEndWith(
            `matches the deny rule ${glob}; no call reads or changes such names, whether they exist or not.`,
          );
          expect(message).toContain(JSON.stringify(`${prefix}${path}`));
        },
      ),
      propertyRuns(8),
    );
  });
});

const climbs = (names: readonly string[]): boolean => {
  let depth = 0;
  return names.some((name) => {
    depth += name === ".." ? -1 : name === "." ? 0 : 1;
    return depth < 0;
  });
};

/** Returns the path without `.` and `..`. */
function plain(path: string): string {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== ".") names.push(name);
  }
  return names.join("/");
}

/** Returns a tree with an entry at the path, or an empty tree if a name before the last is not a folder. */
function treeOf(path: string, kind: string): Tree {
  if (kind === "nothing" || /^(link|file|missing)\//.test(path)) return {};
  if (kind === "folder") return { [`${path}/x`]: "denied-secret" };
  if (kind === "fifo") return { [path]: { fifo: true } };
  if (kind === "file") return { [path]: "denied-secret" };
  return { [path]: { link: kind === "link" ? "/nowhere" : ".." } };
}

/** Returns the error of the call, or of its only entry. */
function errorOf(outcome: Awaited<ReturnType<Invoke>>): Record<"code" | "message" | "reason", string> {
  if ("error" in outcome) return JSON.parse(outcome.error);
  const { results } = outcome.answer as { readonly results?: readonly { readonly error?: unknown }[] };
  const error = results?.[0]?.error;
  if (error === undefined) throw new Error(`no error: ${JSON.stringify(outcome.answer)}`);
  return typeof error === "string" ? JSON.parse(error) : (error as ReturnType<typeof errorOf>);
}
