import { describe, expect, test } from "bun:test";
import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import type { TreeEntry } from "../../../tests/harness/tree.ts";
import { backends, JailFixture, lead } from "./jail.test-kit.ts";

const name = fc.constantFrom("a", "b", "c");
const step = fc.oneof(
  { weight: 4, arbitrary: name },
  { weight: 1, arbitrary: fc.constantFrom("..", ".", "") },
);
const tail = fc.constantFrom("", "", "/", "/.");
const path = fc
  .tuple(fc.array(step, { minLength: 1, maxLength: 6 }), tail)
  .map(([steps, tail]) => steps.join("/") + tail)
  .filter((path) => path !== "" && !path.startsWith("/"));
const target = fc.oneof(
  { weight: 5, arbitrary: path },
  { weight: 1, arbitrary: path.map((path) => `<base>/${path}`) },
  { weight: 1, arbitrary: fc.constantFrom("../outside", "../outside/secret.txt", "<root>/outside", "/etc") },
);
const place = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
const thing = fc.oneof(
  fc.constant("text"),
  fc.constant(null),
  target.map((link) => ({ link })),
);
const tree = fc.array(fc.tuple(place, thing), { maxLength: 12 });

/** Adds the things that can exist: nothing lies in a file, or in the target of a link. */
function addEach(sandbox: JailFixture, things: readonly (readonly [string, TreeEntry])[]): void {
  const kinds = new Map<string, "folder" | "leaf">();
  for (const [path, what] of things) {
    const names = path.split("/");
    const above = names.slice(0, -1).map((_, level) => names.slice(0, level + 1).join("/"));
    if (kinds.has(path) || above.some((folder) => kinds.get(folder) === "leaf")) continue;
    for (const folder of above) kinds.set(folder, "folder");
    kinds.set(path, what === null ? "folder" : "leaf");
    sandbox.add({ [what === null ? `${path}/` : path]: what });
  }
}

/** Returns the path that the system finds, following every link, or `undefined` if it finds nothing. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/**
 * Compares the place that the jail finds for `path` with that of the system, in a tree where nothing moves.
 */
function judge({ base }: JailFixture, path: string, answer: string): void {
  const real = realPath(`${base}/${path}`);
  if (answer.startsWith("at:")) {
    const place = answer === "at:" ? base : `${base}/${answer.slice("at:".length)}`;
    // Nothing in it is a link, so it cannot lead out.
    expect(realPath(place)).toBe(place);
    // The system cannot step back from a missing name.
    if (real === undefined) expect(path).toContain("..");
    else expect(real).toBe(place);
  } else if (real !== undefined) {
    expect(answer).toBe("outside");
    expect(staysInside(base, path)).toBe(false);
  }
}

/** Like `judge`, if a link as the last name stays itself. */
function judgeStaying({ base }: JailFixture, path: string, answer: string): void {
  if (!answer.startsWith("at:")) return;
  const place = join(base, answer.slice("at:".length));
  expect(realPath(dirname(place))).toBe(dirname(place));
  expect(realPath(place)?.startsWith(base)).toBe(true);
  if (/\/\.?$/.test(path)) expect(statSync(place).isDirectory()).toBe(true);
}

/** Returns whether the system stays in the base on its whole way along `path`, which leads somewhere. */
function staysInside(base: string, path: string): boolean {
  let here = base;
  const walk = (path: string): boolean =>
    path.split("/").every((step) => {
      if (step === "" || step === ".") return true;
      const next = `${here}/${step}`;
      if (step !== ".." && lstatSync(next).isSymbolicLink()) return follow(readlinkSync(next));
      here = realpathSync.native(next);
      return here === base || here.startsWith(`${base}/`);
    });
  const follow = (target: string): boolean => {
    if (!target.startsWith("/")) return walk(target);
    here = base;
    return `${target}/`.startsWith(`${base}/`) && walk(target.slice(base.length));
  };
  return walk(path);
}

describe.each(backends)("%s", (backend) => {
  test("no path leads outside, and one that stays inside leads where the system says", () => {
    fc.assert(
      fc.property(tree, fc.array(path, { minLength: 1, maxLength: 12 }), (things, paths) => {
        using sandbox = new JailFixture();
        addEach(sandbox, things);
        const jail = sandbox.jail(backend);
        for (const path of paths) {
          judge(sandbox, path, lead(jail, path));
          judgeStaying(sandbox, path, lead(jail, path, { lastLink: "stay" }));
        }
      }),
      { numRuns: 100 },
    );
  });

  test("no text makes it throw anything but a refusal", () => {
    using sandbox = new JailFixture({ "a/b/": null, l: { link: "a" } });
    const jail = sandbox.jail(backend);
    const odd = fc.oneof(fc.string(), fc.string({ unit: "binary" }), path);
    fc.assert(
      fc.property(odd, odd, (one, other) => {
        for (const path of [one, `${one}/${other}`, `a/${one}`, `l/${one}`]) {
          expect(lead(jail, path)).toMatch(/^(at:.*|missing|outside|bad-input)$/);
        }
      }),
      { numRuns: 300 },
    );
  });
});
