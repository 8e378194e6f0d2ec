/**
 * Diffs of what another program changed lead from the earlier tree to the current one: a content that a call
 * has read or written is shown as the earlier one only if it was.
 */
import { expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { addToTree } from "../../../tests/harness/tree.ts";
import { callWith } from "../call-with.test-kit.ts";
import { type AuthorCalls, SessionsFixture } from "../sessions.test-kit.ts";
import type { NetChange } from "./answer.ts";

const file = fc.constantFrom("a", "b", "d/a", "d/b", "e/a");
const content = fc.constantFrom("1\n2\n3\n", "1\n2\n", "x\n1\n2\n3\n", "", "é\n");

const step = fc.oneof(
  { arbitrary: fc.record({ does: fc.constant("read"), path: file }), weight: 5 },
  { arbitrary: fc.record({ does: fc.constantFrom("save", "write"), path: file, content }), weight: 5 },
  { arbitrary: fc.record({ does: fc.constant("create"), path: file, content }), weight: 2 },
  fc.record({ does: fc.constant("remove"), path: file }),
  fc.record({ does: fc.constantFrom("move", "send"), path: file, to: file }),
  fc.record({ does: fc.constant("rename folder"), path: fc.constantFrom("d", "e") }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T & { to?: string; content?: string } : never;

/** Waits until all files count as unchanged since the newest poll of the feed. */
async function settle({ call }: AuthorCalls, paths: readonly string[]): Promise<void> {
  const times = paths.filter((path) => existsSync(path)).map((path) => statSync(path).ctimeMs);
  while (Date.now() < Math.max(...times) + 25) await call("coder::changes");
  await call("coder::changes");
}

/** Makes a step by a call, or as another program. */
async function take(
  { does, path, to = "", content: text = "" }: Step,
  one: AuthorCalls,
  base: string,
): Promise<void> {
  const at = (name: string) => join(base, name);
  if (does === "read") {
    await settle(one, [at(path)]);
    await one.call("coder::read-file", { path });
  } else if (does === "create")
    await one.call("coder::create-file", { files: [{ path, content: text, overwrite: true }] });
  else if (does === "send") await one.call("coder::move", { files: [{ from: path, to, overwrite: true }] });
  else if (does === "remove") rmSync(at(path));
  else if (does === "rename folder") {
    rmSync(at("old"), { recursive: true, force: true });
    renameSync(at(path), at("old"));
    renameSync(at(path === "d" ? "e" : "d"), at(path));
  } else {
    const target = does === "move" ? to : path;
    mkdirSync(dirname(at(target)), { recursive: true });
    if (does === "save") writeFileSync(at("saved~"), text);
    if (does === "write") writeFileSync(at(path), text);
    else renameSync(at(does === "save" ? "saved~" : path), at(target));
  }
}

/** Steps before and after a checkpoint, whose changes were once shown wrongly. */
const found: [Step[], Step[]][] = [
  [
    [],
    [
      { does: "send", path: "a", to: "d/a" },
      { does: "send", path: "e/a", to: "a" },
      { does: "save", path: "d/a", content: "1\n2\n3\n" },
    ],
  ],
  [
    [{ does: "move", path: "d/b", to: "b" }],
    [
      { does: "rename folder", path: "d" },
      { does: "create", path: "e/a", content: "é\n" },
    ],
  ],
  [
    [],
    [
      { does: "send", path: "a", to: "b" },
      { does: "save", path: "b", content: "1\n2\n3\n" },
      { does: "create", path: "b", content: "" },
    ],
  ],
  [
    [],
    [
      { does: "create", path: "d/a", content: "1\n2\n3\n" },
      { does: "send", path: "d/a", to: "a" },
      { does: "save", path: "a", content: "1\n2\n3\n" },
    ],
  ],
  [
    [{ does: "rename folder", path: "e" }],
    [
      { does: "save", path: "d/b", content: "1\n2\n3\n" },
      { does: "create", path: "d/b", content: "é\n" },
    ],
  ],
  [
    [],
    [
      { does: "rename folder", path: "e" },
      { does: "create", path: "d/b", content: "1\n2\n" },
      { does: "save", path: "d/a", content: "1\n2\n3\n" },
    ],
  ],
  [
    [],
    [
      { does: "remove", path: "e/a" },
      { does: "save", path: "b", content: "1\n2\n3\n" },
      { does: "send", path: "b", to: "e/a" },
    ],
  ],
  [
    [{ does: "rename folder", path: "d" }],
    [
      { does: "move", path: "a", to: "e/a" },
      { does: "save", path: "a", content: "1\n2\n3\n" },
    ],
  ],
  [
    [{ does: "rename folder", path: "d" }],
    [
      { does: "remove", path: "d/a" },
      { does: "save", path: "e/a", content: "1\n2\n3\n" },
      { does: "read", path: "a" },
      { does: "move", path: "e/a", to: "d/a" },
    ],
  ],
];

test("a diff of another program's change leads from the earlier content to the current one", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 8 }),
      fc.array(step, { minLength: 1, maxLength: 8 }),
      async (before, after) => {
        await using fixture = new SessionsFixture();
        const one = fixture.open({ session: "a" });
        addToTree(fixture.base, { a: "a\n1\n2\n3\n", "d/a": "d/a\n1\n2\n3\n", "e/a": "e/a\n1\n2\n3\n" });
        await settle(one, [fixture.at("e/a")]);
        if (!(await one.call("coder::changes")).external) return;
        for (const path of ["a", "d/a"]) await one.call("coder::read-file", { path });
        for (const each of before) await take(each as Step, one, fixture.base).catch(() => undefined);
        const { next: since } = await one.call("coder::changes");
        const old = join(fixture.root, "old");
        cpSync(fixture.base, old, { recursive: true });
        for (const each of after) await take(each as Step, one, fixture.base).catch(() => undefined);
        const { net } = await one.call("coder::changes", { since, answer: "diff" });
        // A file in a folder that was moved or removed has left its earlier path.
        const folders = (net as NetChange[]).flatMap(({ path, from = path, dir }) =>
          dir ? [from, path] : [],
        );
        const shown = (net as NetChange[]).filter(
          ({ path, from = path, diff = "" }) =>
            diff !== "" && !folders.some((folder) => `${path}\n${from}`.includes(`${folder}/`)),
        );
        for (const { path, from = path, kind, diff } of shown) {
          const only = join(fixture.root, "only");
          rmSync(only, { recursive: true, force: true });
          mkdirSync(dirname(join(only, "base", from)), { recursive: true });
          if (existsSync(join(old, from))) cpSync(join(old, from), join(only, "base", from));
          const [outcome] = await callWith(only, {}, ["coder::apply-patch", { patch: diff }]);
          expect({ path, outcome }).not.toHaveProperty("outcome.error");
          const now = kind === "deleted" ? undefined : readFileSync(fixture.at(path), "utf8");
          const made = join(only, "base", path);
          expect([path, existsSync(made) ? readFileSync(made, "utf8") : undefined]).toEqual([path, now]);
        }
      },
    ),
    { numRuns: found.length + propertyRuns(6).numRuns, examples: found },
  );
}, 300_000);
