/** Undo of a thousand random calls at once, by one transaction, and undo of that. */
import { expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshSeed, propertyRuns, randomFrom } from "../../tests/harness/random.ts";
import {
  buildTree,
  compareSnapshots,
  type Snapshot,
  snapshotTree,
  type Tree,
} from "../../tests/harness/tree.ts";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { ancestorsOf } from "../filesystem/jail/backend.ts";
import { defaultConfig } from "./config.ts";
import { functions } from "./functions.ts";
import { openCoder } from "./services.ts";

const tree: Tree = {
  "a/a": "one",
  "a/b/c": { text: "two", mode: 0o600 },
  "a/empty/": null,
  "b/l": { link: "../a/a" },
  "b/dangling": { link: "nowhere" },
  c: { text: "three", mode: 0o4755 },
  "closed/": { mode: 0o500 },
  "closed/x": "four",
};

/** Opens a worker over the tree. Its calls throw the error that they answer. */
async function open(seed: number) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "coder-state-")));
  buildTree(root, tree);
  const journal = { dir, max_bytes: 1024 * 1024 * 1024, max_records: 100_000 };
  const config = { ...defaultConfig(), base_path: join(root, "base"), fsync: false, journal };
  const runtime = await openCoder({ ...config, call_timeout_ms: 600_000 }, { environment: {} });
  const log = createLog({ level: "error", form: "text", write: () => undefined });
  const invoke = createInvoke(runtime, log);
  const call = async (id: string, payload: object) => {
    const outcome = await invoke(functions.find((one) => one.id === id)!, payload);
    if ("error" in outcome) throw new Error(`${outcome.error}, seed ${seed}`);
    return outcome.answer as Readonly<Record<string, readonly unknown[]>>;
  };
  return {
    root,
    call,
    async [Symbol.asyncDispose]() {
      await runtime.close();
      for (const folder of [root, dir]) rmSync(folder, { recursive: true });
    },
  };
}

const names = ["a", "b", "c", "l", "empty", "closed"];

/** Returns a generator of random calls. */
function callsFrom(random: ReturnType<typeof randomFrom>): () => readonly [string, object] {
  const path = () => Array.from({ length: 1 + random.below(3) }, () => random.pick(names)).join("/");
  const overwrite = () => random.chance(0.5);
  const payloads: readonly (() => readonly [string, object])[] = [
    () => [
      "create-file",
      {
        files: [
          { path: path(), content: "x".repeat(random.below(5000)), overwrite: overwrite(), parents: true },
        ],
      },
    ],
    () => [
      "update-file",
      { files: [{ path: path(), ops: [{ op: "insert", at_line: 1, content: `${random.below(99)}\n` }] }] },
    ],
    () => ["delete-file", { paths: [path()], recursive: overwrite() }],
    () => ["move", { files: [{ from: path(), to: path(), overwrite: overwrite() }] }],
    () => ["copy", { files: [{ from: path(), to: path(), overwrite: overwrite() }] }],
    () => ["make-folder", { paths: [path()], mode: random.pick(["0700", "0755", "0500"]) }],
  ];
  return () => random.pick(payloads)();
}

test("1,000 random calls, undone and redone", async () => {
  const seed = freshSeed();
  await using fixture = await open(seed);
  const { root, call } = fixture;
  const next = callsFrom(randomFrom(seed));
  const before = snapshotTree(root);
  for (let made = 0; made < 1000; made++) {
    const [name, payload] = next();
    await call(`coder::${name}`, payload);
  }
  const after = snapshotTree(root);
  const undone = await call("coder::undo", { steps: 1000 });
  expect({ seed, conflicts: undone["conflicts"] }).toEqual({ seed, conflicts: [] });
  expect({ seed, faults: compareSnapshots(snapshotTree(root), before) }).toEqual({ seed, faults: [] });
  const redone = await call("coder::undo", {});
  expect({ seed, conflicts: redone["conflicts"] }).toEqual({ seed, conflicts: [] });
  expect({ seed, faults: compareSnapshots(snapshotTree(root), after) }).toEqual({ seed, faults: [] });
});

interface Undone {
  readonly restored: readonly string[];
  readonly removed: readonly string[];
  readonly more?: number;
}

/** Returns the paths that differ between two snapshots, whose folders end with a slash. */
function differences(before: Snapshot, after: Snapshot): Set<string> {
  const stateIn = (snapshot: Snapshot, path: string) => JSON.stringify(snapshot.get(path) ?? null);
  const paths = [...before.keys(), ...after.keys()];
  const changed = paths.filter((path) => stateIn(before, path) !== stateIn(after, path));
  return new Set(changed.map((path) => path.replace(/\/$/, "")));
}

/** Returns whether a path or a folder above it is among others. */
const isWithin = (path: string, others: ReadonlySet<string>) =>
  [path, ...ancestorsOf(path)].some((one) => others.has(one));

/**
 * Changes each file that is outside of the changed paths, and creates one at each free name. Returns the new
 * contents.
 */
function changeOthers(root: string, snapshot: Snapshot, changed: ReadonlySet<string>): Map<string, string> {
  const others = new Map<string, string>();
  for (const [path, { kind }] of snapshot) {
    if (kind !== "file" || isWithin(path, changed)) continue;
    others.set(path, `${path} of another program`);
  }
  for (const folder of ["", ...snapshot.keys()])
    for (const name of names) {
      const path = `${folder}${name}`;
      const isFolder = folder === "" || (folder.endsWith("/") && !isWithin(folder.slice(0, -1), changed));
      const isFree = !snapshot.has(path) && !snapshot.has(`${path}/`) && !isWithin(path, changed);
      if (isFolder && isFree) others.set(path, `${path} of another program`);
    }
  for (const [path, text] of others) writeFileSync(join(root, "base", path), text);
  return others;
}

test("an undo lists what it has changed, and its undo leaves alone all else", async () => {
  let [undone, redoneAll] = [0, 0];
  for (let run = 0; run < propertyRuns(60).numRuns; run++) {
    const seed = freshSeed();
    await using fixture = await open(seed);
    const { root, call } = fixture;
    const random = randomFrom(seed);
    const next = callsFrom(random);
    let made = 0;
    for (let tries = 0; tries < 40; tries++) {
      const [name, payload] = made > 0 && random.chance(0.3) ? (["undo", {}] as const) : next();
      if ("checkpoint" in (await call(`coder::${name}`, { ...payload, label: `${tries}` }))) made++;
    }
    const [before, steps] = [snapshotTree(root), 1 + random.below(made)];
    const answer = await call("coder::undo", { steps, label: "all" });
    expect({ seed, steps, conflicts: answer["conflicts"] }).toEqual({ seed, steps, conflicts: [] });
    const after = snapshotTree(root);
    const changed = differences(before, after);
    const lists = answer["undone"] as readonly Undone[];
    const listed = lists.flatMap(({ restored, removed }) => [...restored, ...removed]);
    // A folder that replaces another one is listed itself.
    const isChanged = (path: string) =>
      changed.has(path) || [...changed].some((one) => one.startsWith(`${path}/`));
    const falsely = listed.filter((path) => !isChanged(path));
    const missing = [...changed].filter((path) => !isWithin(path, new Set(listed)));
    expect({ seed, steps, falsely, missing }).toEqual({ seed, steps, falsely: [], missing: [] });
    if (!("checkpoint" in answer)) continue;
    undone++;
    const others = changeOthers(root, after, new Set([...changed, ...listed]));
    const changedSince = snapshotTree(root);
    const redone = await call("coder::undo", {});
    // An entry that passes through a name needs it to be free: then nothing is done.
    const conflicts = redone["conflicts"] as readonly { readonly path: string; readonly stays?: true }[];
    const unexpected = conflicts.filter(({ path, stays }) => !stays || !others.has(path));
    expect({ seed, steps, conflicts: unexpected }).toEqual({ seed, steps, conflicts: [] });
    if (conflicts.length > 0) {
      expect(differences(changedSince, snapshotTree(root))).toEqual(new Set());
      continue;
    }
    redoneAll++;
    const last = snapshotTree(root);
    const wrong = [...differences(last, before)].filter((path) => !others.has(path));
    const texts = new Map([...others.keys()].map((path) => [path, String(last.get(path)?.content)]));
    expect({ seed, steps, wrong, texts }).toEqual({ seed, steps, wrong: [], texts: others });
  }
  expect(undone).toBeGreaterThan(10);
  expect(redoneAll).toBeGreaterThan(undone / 2);
});
