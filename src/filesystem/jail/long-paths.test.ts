import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import type { Backend, HeldFolder } from "./backend.ts";
import { holdByDescriptors } from "./descriptors.ts";
import type { AdmitOptions, Name } from "./folder.ts";
import { backends, JailFixture, lead } from "./jail.test-kit.ts";
import { splitPath } from "./parse.ts";
import { type WalkRules, walk } from "./walk.ts";

const levels = 300;

/** Returns the path of the folder at a depth. */
const at = (depth: number): string => ["deep", ...Array<string>(depth).fill("d")].join("/");

const sandbox = new JailFixture({
  [`${at(levels)}/file`]: "",
  [`${at(100)}/link`]: { link: "d/d" },
  [`${at(150)}/up`]: { link: "../../d" },
  [`${at(200)}/out`]: { link: "/etc" },
  [`${at(250)}/.denied/d/file`]: "",
  top: { link: "deep" },
  middle: { link: at(120) },
});
const held = holdByDescriptors(sandbox.base, "openat");
afterAll(() => {
  held.close();
  sandbox[Symbol.dispose]();
});

/** Records each folder that a walk opens, by its names. */
function recorded(backend: Backend): { readonly backend: Backend; readonly opened: string[] } {
  const opened: string[] = [];
  const record = (folder: HeldFolder): HeldFolder =>
    new Proxy(folder, {
      get(target, key) {
        if (key === "child")
          return (name: Name) => {
            opened.push(String(name));
            return record(target.child(name));
          };
        if (key === "openFolderBeneath")
          return (path: string) => {
            opened.push(path);
            const found = target.openFolderBeneath!(path);
            return found && record(found);
          };
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  return { backend: { ...backend, base: (requested) => record(backend.base(requested)) }, opened };
}

/** Returns how many folders a walk opens on its way, each by one or by many names. */
function stepsTo(path: string, options: AdmitOptions = {}): number {
  const { backend, opened } = recorded(held);
  const rules: WalkRules = {
    backend,
    linkRoots: () => [`${sandbox.base}/`],
    rootDepth: 0,
    isRoot: false,
    requireNewNames() {},
    denies: () => false,
    deniesBelow: () => false,
  };
  walk(rules, path, splitPath(path), options)[Symbol.dispose]();
  return opened.length;
}

const mayBeNew = { mayBeMissing: true, parents: true } as const;
const rest = "d/".repeat(180);

test.each([
  ["of folders", `${at(levels)}/file`, 1],
  ["that ends in missing folders", `${at(levels)}/new/${"n/".repeat(100)}file`, 70],
  ["through a link at its beginning", `top/${"d/".repeat(levels)}file`, 12],
  ["through a link to a deep folder", `middle/${rest}file`, 12],
  ["through a link in its middle", `${at(100)}/link/${"d/".repeat(198)}file`, 70],
  ["that steps back at its beginning", `deep/../${at(levels)}/file`, 4],
  ["that steps back at its end", `${at(levels)}/../d/file`, 4],
  ["that steps back at both ends", `deep/../${at(levels)}/../d/file`, 6],
  ["through a link that steps back", `${at(150)}/up/${"d/".repeat(151)}file`, 140],
])("a path %s is walked in a few steps", (_, path, most) => {
  expect(stepsTo(path, mayBeNew)).toBeLessThanOrEqual(most);
});

/** A part of a path: some folders down, or one of the ways that no single step can take. */
const part = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 140 }).map((count) => "d/".repeat(count)) },
  fc.constantFrom("link/", "up/", "out/", "../", "../../", ".denied/", "missing/", "file/", "./"),
);
const start = fc.constantFrom("deep/", "top/", "middle/", `${at(100)}/`, `${at(240)}/`, "deep/../");
const last = fc.constantFrom("file", "d", "link", "up", "new", "..", "d/");

test("a long path leads where it leads name by name", async () => {
  const jails = backends.map((backend) => sandbox.jail(backend, ["**/.denied"]));
  await fc.assert(
    fc.property(start, fc.array(part, { maxLength: 5 }), last, fc.boolean(), (from, parts, end, isNew) => {
      const path = from + parts.join("") + end;
      const reported = jails.map((jail) => {
        const onPath: string[] = [];
        const options = { ...(isNew && mayBeNew), onPath: (one: string) => onPath.push(one) };
        return [lead(jail, path, options), onPath];
      });
      for (const one of reported) expect(one).toEqual(reported[0]!);
    }),
    { numRuns: 60 * Number(process.env["CODER_RUNS"] ?? 1) },
  );
});
