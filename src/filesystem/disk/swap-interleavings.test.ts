/**
 * Tests every order of the steps of two workers that edit one file, and of another program that replaces it.
 * The workers run `replaceExpected`, over names that this test keeps itself.
 */
import { describe, expect, test } from "bun:test";
import { errnoError, errnoOf } from "../jail/errno.ts";
import type { JailedPath } from "../jail/folder.ts";
import { type AtomicStep, blocked, type SteppedProgram, worldsAfter } from "./interleavings.test-kit.ts";
import { type NameCalls, type ReplacedFile, replaceExpected } from "./swap-names.ts";

interface World {
  /** The inodes, keyed by their names. */
  readonly names: Record<string, number>;
  /**
   * The contents of inodes, and how often they are open. An inode without a name or an open file is reused
   * for the next new file.
   */
  readonly inodes: { content: string; opened: number; isLocked: boolean }[];
  folderIsLocked: boolean;
  /** The operations begun and acknowledged, in this order. */
  readonly events: Event[];
}

type Event =
  | { readonly kind: "replaced"; readonly content: string }
  | { readonly kind: "begun"; readonly edit: string }
  | { readonly kind: "edited"; readonly edit: string; readonly before: string };

const file = "f";

function makeFile(world: World, name: string, content: string): void {
  const used = new Set(Object.values(world.names));
  const free = world.inodes.findIndex(({ opened }, inode) => opened === 0 && !used.has(inode));
  const inode = free === -1 ? world.inodes.length : free;
  world.inodes[inode] = { content, opened: 0, isLocked: false };
  world.names[name] = inode;
}

function rename({ names }: World, from: string, to: string): void {
  names[to] = names[from]!;
  delete names[from];
}

function inodeOfName({ names }: World, name: string): number {
  const inode = names[name];
  if (inode === undefined) throw errnoError("ENOENT");
  return inode;
}

const callsOf = (step: AtomicStep<World>): NameCalls => ({
  exchange: (one, other) =>
    step(({ names }) => {
      const [from, to] = [String(one), String(other)];
      if (names[from] === undefined || names[to] === undefined) return false;
      [names[from], names[to]] = [names[to], names[from]];
      return true;
    }),
  rename: (from, to) => step((world) => rename(world, String(from), String(to))),
  unlink: (path) => step.alone(({ names }) => void delete names[String(path)]),
  inodeAt: (path) => step.alone((world) => String(inodeOfName(world, String(path)))),
  requireInode: (path, inode) =>
    step.alone((world) => {
      if (String(inodeOfName(world, String(path))) !== inode) throw errnoError("ESTALE");
    }),
  hold(path) {
    const inode = step.alone((world) => {
      const held = inodeOfName(world, String(path));
      world.inodes[held]!.opened++;
      return held;
    });
    return { [Symbol.dispose]: () => step.alone(({ inodes }) => void inodes[inode]!.opened--) };
  },
});

interface Editing {
  /** Whether it locks the folder while it gives its content the name. */
  readonly isLocked: boolean;
  /** Whether the system can exchange names. */
  readonly canExchange: boolean;
}

/** Reads the file, and replaces it with the content `edit` if it is unchanged. */
const edit =
  (edit: string, { isLocked, canExchange }: Editing): SteppedProgram<World> =>
  (step) => {
    const temporary = `temporary ${edit}`;
    const read = step((world) => {
      const inode = inodeOfName(world, file);
      // Another worker is just giving it its name.
      if (world.inodes[inode]!.isLocked) throw blocked;
      makeFile(world, temporary, edit);
      const ours = inodeOfName(world, temporary);
      world.inodes[ours]!.isLocked = true;
      for (const held of [inode, ours]) world.inodes[held]!.opened++;
      world.events.push({ kind: "begun", edit });
      return { inode, ours, content: world.inodes[inode]!.content };
    });
    if (isLocked)
      step((world) => {
        if (world.folderIsLocked) throw blocked;
        world.folderIsLocked = true;
      });
    try {
      const path = temporary as unknown as JailedPath;
      const ours = { path, descriptor: -1, inode: String(read.ours) };
      const calls = canExchange ? callsOf(step) : { ...callsOf(step), exchange: () => false };
      replaceExpected(ours, file as unknown as JailedPath, versionOf(step, read), calls);
      step(({ events }) => void events.push({ kind: "edited", edit, before: read.content }));
    } catch (error) {
      if (errnoOf(error) !== "ESTALE" && errnoOf(error) !== "ENOENT") throw error;
    }
    step((world) => {
      delete world.names[temporary];
      for (const held of [read.inode, read.ours]) world.inodes[held]!.opened--;
      world.inodes[read.ours]!.isLocked = false;
      if (isLocked) world.folderIsLocked = false;
    });
  };

function versionOf(step: AtomicStep<World>, read: { inode: number; content: string }): ReplacedFile {
  const requireThat = (path: JailedPath, isSo: (inode: number, world: World) => boolean) =>
    (String(path) === file ? step : step.alone)((world) => {
      if (!isSo(inodeOfName(world, String(path)), world)) throw errnoError("ESTALE");
    });
  return {
    requireStats: (path) => requireThat(path, (inode) => inode === read.inode),
    requireContent: (path) =>
      requireThat(path, (inode, { inodes }) => inodes[inode]!.content === read.content),
  };
}

/** Simulates another program, which replaces the file `times` times. */
const replace =
  (times: number): SteppedProgram<World> =>
  (step) => {
    for (let n = 1; n <= times; n++)
      step((world) => {
        makeFile(world, "theirs", `theirs ${n}`);
        rename(world, "theirs", file);
        world.events.push({ kind: "replaced", content: `theirs ${n}` });
      });
  };

const initial: World = {
  names: { [file]: 0 },
  inodes: [{ content: "old", opened: 0, isLocked: false }],
  folderIsLocked: false,
  events: [],
};

/** Returns a world in which something is lost. */
function findLoss(programs: readonly SteppedProgram<World>[]): World | undefined {
  for (const world of worldsAfter(initial, programs)) if (!isExplained(world)) return world;
  return undefined;
}

interface Operation {
  readonly content: string;
  /** The content that it was based on; `undefined` for a program that does not check. */
  readonly before?: string;
  /** Places in the list of events. */
  readonly from: number;
  readonly to: number;
}

/**
 * Returns whether the acknowledged operations could have happened one after the other, with this result: no
 * operation after one that began when it was over, and every edit on the content that it was based on
 * (linearizability).
 */
function isExplained({ names, inodes, events }: World): boolean {
  if (names[file] === undefined || Object.keys(names).length > 1) return false;
  const operations = events.flatMap((event, to): Operation[] => {
    if (event.kind === "begun") return [];
    if (event.kind === "replaced") return [{ content: event.content, from: to, to }];
    const from = events.findIndex((other) => other.kind === "begun" && other.edit === event.edit);
    return [{ content: event.edit, before: event.before, from, to }];
  });
  return leadTo(inodes[names[file]!]!.content, "old", operations);
}

function leadTo(end: string, now: string, operations: readonly Operation[]): boolean {
  if (operations.length === 0) return now === end;
  return operations.some((next) => {
    const others = operations.filter((other) => other !== next);
    if (others.some(({ to }) => to < next.from)) return false;
    return (next.before ?? now) === now && leadTo(end, next.content, others);
  });
}

const edits = (count: number, editing: Editing): SteppedProgram<World>[] =>
  Array.from({ length: count }, (_, index) => edit(`ours ${index}`, editing));

describe("where names can be exchanged", () => {
  test.each([
    [1, 5],
    [2, 3],
    [3, 1],
  ])("nothing is lost by %i workers and a program that replaces the file %i times", (workers, times) => {
    const editing = { isLocked: true, canExchange: true };
    expect(findLoss([...edits(workers, editing), replace(times)])).toBeUndefined();
  });

  test("something is lost when two workers do not lock the folder and another program replaces the file", () => {
    const editing = { isLocked: false, canExchange: true };
    expect(findLoss([...edits(2, editing), replace(1)])).toBeDefined();
  });
});

describe("where names cannot be exchanged", () => {
  test("nothing is lost by three workers", () => {
    expect(findLoss(edits(3, { isLocked: true, canExchange: false }))).toBeUndefined();
  });

  test.each([
    ["two workers do not lock the folder", edits(2, { isLocked: false, canExchange: false })],
    ["another program replaces the file", [...edits(1, { isLocked: true, canExchange: false }), replace(1)]],
  ])("something is lost when %s", (_, programs) => {
    expect(findLoss(programs)).toBeDefined();
  });
});
