/**
 * The kinds of net changes by calls and by another program are true: a file that is said to be created was
 * not there, one that is said to be deleted was, and each file that differs is in the answer.
 */
import { expect, test } from "bun:test";
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { addToTree, snapshotTree } from "../../../tests/harness/tree.ts";
import { type AuthorCalls, SessionsFixture } from "../sessions.test-kit.ts";
import type { NetChange } from "./answer.ts";

const file = fc.constantFrom("a", "b", "d/a", "d/b", "e/a", "d/n/a");
const folders = ["d", "e", "d/n", "f"];
const folder = fc.constantFrom(...folders);
const who = fc.constantFrom("call", "program");

const step = fc.oneof(
  fc.record({ does: fc.constant("write"), who, path: file, content: fc.constantFrom("1\n", "2\n", "") }),
  fc.record({ does: fc.constant("make"), who, path: folder }),
  fc.record({ does: fc.constant("remove"), who, path: fc.oneof(file, folder) }),
  fc.record({ does: fc.constant("move"), who, path: file, to: file }),
  fc.record({ does: fc.constant("move"), who, path: folder, to: folder }),
  fc.constant({ does: "look", who: "call", path: "" }),
);
interface Step {
  readonly does: string;
  readonly who: string;
  readonly path: string;
  readonly to?: string;
  readonly content?: string;
}

async function takeByCall({ does, path, to = "", content = "" }: Step, { call }: AuthorCalls): Promise<void> {
  if (does === "look") await call("coder::changes");
  else if (does === "write")
    await call("coder::create-file", { files: [{ path, content, overwrite: true, parents: true }] });
  else if (does === "make")
    await call("coder::create-file", { files: [{ path: `${path}/x`, content: "x" }] });
  else if (does === "remove") await call("coder::delete-file", { paths: [path], recursive: true });
  else await call("coder::move", { files: [{ from: path, to, overwrite: true }] });
}

async function takeByProgram({ does, path, to = "", content = "" }: Step, base: string): Promise<void> {
  const at = (name: string) => join(base, name);
  if (does === "write" || does === "make") {
    const name = does === "make" ? `${path}/x` : path;
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
  } else if (does === "remove") rmSync(at(path), { recursive: true });
  else {
    mkdirSync(dirname(at(to)), { recursive: true });
    renameSync(at(path), at(to));
  }
}

/** Returns the contents of files, and `folder` for folders, by path. */
const entriesOf = (root: string): ReadonlyMap<string, string> =>
  new Map(
    [...snapshotTree(root)].flatMap(([path, { kind, content }]) =>
      path.startsWith("..")
        ? []
        : [[path.replace(/\/$/, ""), kind === "dir" ? "folder" : String(content)] as const],
    ),
  );

type Entries = ReadonlyMap<string, string>;

/** Returns the changes of an answer that are not true, and the files that differ and are not in it. */
function faults(net: readonly NetChange[], old: Entries, now: Entries): string[] {
  const found: string[] = [];
  const named = new Set<string>();
  for (const { kind, path, from = path, dir, note } of net) {
    const has = (entries: Entries, one: string) =>
      entries.has(one) && (entries.get(one) === "folder") === (dir ?? false);
    const isTrue =
      (kind === "created" && note !== undefined && has(now, path)) ||
      (has(old, from) === (kind !== "created") &&
        has(now, path) === (kind !== "deleted") &&
        (kind !== "moved" || !has(old, path)));
    if (!isTrue) found.push(`${kind} ${from} ${path}`);
    for (const one of [path, from]) named.add(one);
    const isWhole = dir && (kind !== "modified" || note !== undefined);
    for (const one of isWhole ? [...old.keys(), ...now.keys()] : [])
      if ([path, from].some((folderPath) => one.startsWith(`${folderPath}/`))) named.add(one);
  }
  for (const path of new Set([...old.keys(), ...now.keys()])) {
    const [before, after] = [old.get(path), now.get(path)];
    const isFolder = [before, after].every((one) => one === undefined || one === "folder");
    if (before !== after && !isFolder && !named.has(path)) found.push(`left out ${path}`);
  }
  return found;
}

test("each kind is true, and no file is left out", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 6 }),
      fc.array(step, { minLength: 1, maxLength: 8 }),
      async (before, after) => {
        await using fixture = new SessionsFixture();
        const one = fixture.open({ session: "a" });
        addToTree(fixture.base, { a: "a\n1\n", "d/a": "d/a\n1\n", "e/a": "e/a\n1\n" });
        if (!(await one.call("coder::changes")).external) return;
        const take = async (each: Step) => {
          const taking = each.who === "call" ? takeByCall(each, one) : takeByProgram(each, fixture.base);
          await taking.catch(() => undefined);
          // If a folder is moved twice between two polls, the feed may report its files in another order.
          if (folders.includes(each.path)) await one.call("coder::changes");
        };
        for (const each of before) await take(each);
        const { next: since } = await one.call("coder::changes");
        const old = join(fixture.root, "old");
        cpSync(fixture.base, join(old, "base"), { recursive: true });
        for (const each of after) await take(each);
        const { net, overflow } = await one.call("coder::changes", { since, answer: "stat" });
        if (overflow) return;
        expect(faults(net, entriesOf(old), entriesOf(fixture.root))).toEqual([]);
      },
    ),
    propertyRuns(20),
  );
}, 300_000);
