/** Takes back the net steps of random changes of a tree in memory. */
import { expect, test } from "bun:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import type { RecordedState } from "./frame.ts";
import { netSteps } from "./net-steps.ts";
import type { RecordedStep } from "./read-record.ts";
import { isAlike } from "./step-effects.ts";

const absent: RecordedState = { kind: "absent" };

/** A tree in memory, which records its changes as the journal does. */
class RecordingTree {
  readonly entries: Map<string, RecordedState>;
  readonly steps: RecordedStep[] = [];
  /** The number of the call. */
  seq = 1;

  constructor(entries: Iterable<readonly [string, RecordedState]>) {
    this.entries = new Map(entries);
  }

  at(path: string): RecordedState {
    return this.entries.get(path) ?? absent;
  }

  isFolder(path: string): boolean {
    return path === "" || this.at(path).kind === "dir";
  }

  below(path: string): string[] {
    return [...this.entries.keys()].filter((one) => one.startsWith(`${path}/`)).sort();
  }

  set(path: string, state: RecordedState): void {
    if (state.kind === "absent") this.entries.delete(path);
    else this.entries.set(path, state);
  }

  record(kind: RecordedStep["kind"], path: string, after: RecordedState, from?: string): void {
    const at = this.steps.length;
    const found = this.at(path);
    const before = found.kind === "file" && kind !== "chmod" ? { ...found, content: kept(at) } : found;
    const place = { segment: 1, record: "r", contentsAt: at, part: 0, bytes: 0, seq: this.seq };
    const step = { at, kind, path, before: { state: before }, after: { state: after }, ...place };
    this.steps.push(from === undefined ? step : { ...step, from });
  }

  place(path: string, state: RecordedState): void {
    if (isDeepStrictEqual(this.at(path), state)) return;
    this.record("place", path, state);
    this.set(path, state);
  }

  remove(path: string): void {
    for (const one of [...this.below(path).reverse(), path]) {
      this.record("remove", one, absent);
      this.set(one, absent);
    }
  }

  move(from: string, path: string): void {
    const moved = [from, ...this.below(from)].map((one) => [one, this.at(one)] as const);
    this.record("rename", path, this.at(from), from);
    for (const [one] of moved) this.set(one, absent);
    for (const [one, state] of moved) this.set(path + one.slice(from.length), state);
  }

  /** Takes back the last steps as another call. */
  undo(count: number): void {
    this.seq++;
    for (const { kind, path, from, before } of this.steps.slice(-count).reverse()) {
      const { state } = before;
      if (kind === "rename") this.move(path, from!);
      if (kind === "chmod") this.setMode(path, (state as { readonly mode: number }).mode);
      else if (state.kind !== "absent") this.place(path, withoutContent(state));
      else if (kind !== "rename") this.remove(path);
    }
  }

  setMode(path: string, mode: number): void {
    const found = this.at(path) as Extract<RecordedState, { kind: "file" | "dir" }>;
    if (found.mode === mode) return;
    const withMode = (bits: number): RecordedState =>
      found.kind === "file" ? { kind: "file", mode: bits, revision: "" } : { kind: "dir", mode: bits };
    this.record("chmod", path, withMode(mode));
    const step = this.steps.pop()!;
    this.steps.push({ ...step, before: { state: withMode(found.mode!) } });
    this.set(path, { ...found, mode });
  }
}

const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

function withoutContent(state: RecordedState): RecordedState {
  if (state.kind !== "file") return state;
  const { content: _, ...others } = state;
  return others;
}

const kept = (at: number) => ({ inline: at, length: 1 });

const name = fc.constantFrom("a", "b", "c");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const isCall = fc.boolean();
const content = fc.constantFrom("1", "2", "3");

const change = fc.oneof(
  fc.record({ kind: fc.constant("file" as const), isCall, path, content }),
  fc.record({ kind: fc.constant("link" as const), isCall, path, content }),
  fc.record({ kind: fc.constant("dir" as const), isCall, path }),
  fc.record({ kind: fc.constant("remove" as const), isCall, path }),
  fc.record({ kind: fc.constant("copy" as const), isCall, path, to: path }),
  fc.record({
    kind: fc.constant("chmod" as const),
    isCall,
    path,
    mode: fc.constantFrom(0o600, 0o644, 0o755),
  }),
  fc.record({ kind: fc.constant("undo" as const), isCall, path, count: fc.integer({ min: 1, max: 8 }) }),
);
const move = fc.record({ kind: fc.constant("move" as const), isCall, path, to: path });

type Change = typeof change | typeof move extends fc.Arbitrary<infer One> ? One : never;

/** Makes a change, if the tree permits it. */
function make(tree: RecordingTree, one: Change): void {
  const { kind, path } = one;
  if (one.isCall) tree.seq++;
  const found = tree.at(path);
  const isFree = tree.isFolder(folderOf(path)) && found.kind !== "dir";
  if (kind === "undo") tree.undo(one.count);
  else if (kind === "remove" && found.kind !== "absent") tree.remove(path);
  else if (kind === "chmod" && (found.kind === "file" || found.kind === "dir")) tree.setMode(path, one.mode);
  else if (kind === "move" || kind === "copy") transfer(tree, one);
  else if (kind === "dir" && isFree && found.kind === "absent") tree.place(path, { kind, mode: 0o755 });
  else if (kind === "link" && isFree) tree.place(path, { kind: "symlink", text: one.content });
  else if (kind === "file" && isFree) {
    const mode = found.kind === "file" ? found.mode : 0o644;
    tree.place(path, { kind, mode, revision: one.content });
  }
}

function transfer(tree: RecordingTree, { kind, path, to }: Extract<Change, { kind: "move" | "copy" }>): void {
  const [found, target] = [tree.at(path), tree.at(to)];
  const isReached = tree.isFolder(folderOf(to)) && !`${to}/`.startsWith(`${path}/`);
  const isReplaceable = target.kind === "absent" || (target.kind !== "dir" && found.kind !== "dir");
  if (found.kind === "absent" || !isReached || !isReplaceable) return;
  if (kind === "move") tree.move(path, to);
  else for (const one of [path, ...tree.below(path)]) tree.place(to + one.slice(path.length), tree.at(one));
}

/** Takes a step back, if the tree is as the step has left it. Returns what is not, if anything. */
function takeBack(
  tree: RecordingTree,
  { kind, path, from, before, after }: RecordedStep,
): string | undefined {
  const found = tree.at(path);
  const isOfFileMode = kind === "chmod" && found.kind === "file";
  if (!isAlike(after.state, found, isOfFileMode)) return "another state";
  if (!tree.isFolder(folderOf(path))) return "no folder";
  if (kind === "rename") {
    if (tree.at(from!).kind !== "absent" || !tree.isFolder(folderOf(from!))) return "no room";
    tree.move(path, from!);
  }
  if (kind === "chmod") tree.setMode(path, (before.state as { readonly mode: number }).mode);
  else if (before.state.kind === "file" && before.state.content === undefined) return "no content";
  else if (tree.below(path).length > 0) return "not empty";
  else tree.set(path, withoutContent(before.state));
  return undefined;
}

const sorted = (entries: ReadonlyMap<string, RecordedState>) =>
  [...entries].sort(([one], [other]) => (one < other ? -1 : 1));

const start: readonly (readonly [string, RecordedState])[] = [
  ["a", { kind: "dir", mode: 0o755 }],
  ["a/a", { kind: "file", mode: 0o644, revision: "x" }],
  ["a/b", { kind: "dir", mode: 0o700 }],
  ["a/b/c", { kind: "symlink", text: "x" }],
  ["b", { kind: "file", mode: 0o644, revision: "y" }],
];

/** Makes random changes, and takes their net steps back. Returns these, and the tree after the changes. */
function netOf(changes: readonly Change[]) {
  const tree = new RecordingTree(start);
  for (const one of changes) make(tree, one);
  const steps = runAtOnce(netSteps(tree.steps));
  const back = new RecordingTree(tree.entries);
  for (const step of steps.toReversed()) expect([step, takeBack(back, step)]).toEqual([step, undefined]);
  expect(sorted(back.entries)).toEqual(sorted(new Map(start)));
  return { steps, tree };
}

const manyOf = <One>(one: fc.Arbitrary<One>) => fc.array(one, { minLength: 2, maxLength: 24, size: "max" });

test("net steps take a tree back in which entries were moved", () => {
  let reduced = 0;
  fc.assert(
    fc.property(manyOf(fc.oneof(change, move, move)), (changes) => {
      const { steps, tree } = netOf(changes);
      if (steps !== tree.steps) reduced++;
    }),
    propertyRuns(3000),
  );
  expect(reduced).toBeGreaterThan(100);
});

test("without moves, a path that ends as it began is in no net step", () => {
  fc.assert(
    fc.property(manyOf(change), (changes) => {
      const { steps, tree } = netOf([...changes, { kind: "undo", isCall: true, path: "", count: 1 }]);
      const before = new Map(start);
      const isAsBefore = ({ path }: RecordedStep) =>
        isDeepStrictEqual(tree.at(path), before.get(path) ?? absent);
      expect(steps.filter(isAsBefore)).toEqual([]);
    }),
    propertyRuns(3000),
  );
});
