import { describe, expect, spyOn, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { treeOf } from "../../../tests/harness/tree.ts";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import * as steps from "../disk/revert.ts";
import type { Step } from "../disk/steps.ts";
import { openJail } from "../jail/jail.ts";
import { temporaryName } from "../jail/temporary.ts";
import { DiskTree } from "../operations/disk-tree.ts";
import { everyKind, fileOf, sampleTree, TransactionsFixture } from "./transactions.test-kit.ts";
import { recoverIn } from "./transactions.ts";

const count = 22;
const points = Array.from({ length: count + 1 }, (_, index) => index);

describe("a process that was killed", () => {
  test.each(points)("after %d steps: the next start takes them back", async (done) => {
    using fixture = new TransactionsFixture("descriptors", sampleTree);
    const before = fixture.snapshot();
    await fixture.crashAfter(everyKind(fixture), done);
    expect(fixture.records()).toEqual([".json"]);
    await fixture.recover();
    expect(fixture.snapshot()).toEqual(before);
    expect(fixture.records()).toEqual([]);
    expect(fixture.lines).toEqual([
      expect.stringContaining("a transaction was stopped half done, and is taken back"),
    ]);
  });

  test("the next start returns what it says, and the one after that nothing", async () => {
    using fixture = new TransactionsFixture("descriptors", sampleTree);
    await fixture.crashAfter(everyKind(fixture), count);
    const left = "a killed process left a transaction, which only a worker that may write can finish";
    expect(await fixture.recover({ readOnly: true })).toEqual([left]);
    expect(await fixture.recover()).toEqual(["a transaction was stopped half done, and is taken back"]);
    expect(await fixture.recover()).toEqual([]);
  });

  test.each([false, true])(
    "in a root that is read-only now: nothing is changed, only said",
    async (isCommitted) => {
      using fixture = new TransactionsFixture("descriptors", sampleTree);
      await fixture.crashAfter(everyKind(fixture), count, { isCommitted });
      const before = fixture.snapshot();
      const jail = openJail({ basePath: fixture.base, deny: compileGlobSet([]), isReadOnly: true });
      const { context, state, log, lines } = fixture;
      await recoverIn({ files: { ...context, jail }, folder: state, readOnly: false, log });
      jail.close();
      expect(fixture.snapshot()).toEqual(before);
      expect(fixture.records()).toEqual([".json"]);
      expect(lines).toEqual([expect.stringContaining("which only a worker that may write can finish")]);
      await fixture.recover();
      expect(fixture.records()).toEqual([]);
    },
  );

  test("once all was committed: the next start removes what was replaced", async () => {
    using fixture = new TransactionsFixture("descriptors", sampleTree);
    using other = new TransactionsFixture("descriptors", sampleTree);
    await fixture.crashAfter(everyKind(fixture), count, { isCommitted: true });
    await fixture.recover();
    await other.commit(everyKind(other));
    expect(fixture.snapshot()).toEqual(other.snapshot());
    expect(fixture.records()).toEqual([]);
  });

  test("once all was committed: remains that cannot be removed keep no transaction waiting", async () => {
    using fixture = new TransactionsFixture("descriptors", sampleTree);
    const remove = (path: string): Step => {
      return { kind: "set-aside", path, expected: fixture.version(path), change: 0 };
    };
    const spy = spyOn(steps, "removeTemporary").mockImplementation(() => {
      throw Object.assign(new Error("EPERM"), { code: "EPERM" });
    });
    try {
      await fixture.commit([remove("gone")]);
      await fixture.commit([remove("c.txt")]);
      await fixture.recover();
    } finally {
      spy.mockRestore();
    }
    const unremoved = expect.stringContaining("what a transaction replaced could not be removed");
    expect(fixture.lines).toEqual([unremoved, unremoved, unremoved, unremoved]);
    await fixture.recover();
    expect(fixture.records()).toEqual([]);
    expect(
      [...fixture.snapshot().keys()].filter((path) => path.includes("gone") || path.includes("tmp")),
    ).toEqual([]);
  });

  test("before the record was whole: nothing was changed, and a sweep removes what was staged", async () => {
    using fixture = new TransactionsFixture("descriptors", sampleTree);
    const before = fixture.snapshot();
    await fixture.crashAfter(everyKind(fixture), 0);
    const record = recordOf(fixture);
    truncateSync(record, readFileSync(record).length - 3);
    renameSync(record, record.replace(/json$/, `new-${temporaryName()}`));
    await fixture.recover();
    expect(fixture.lines).toEqual([
      expect.stringContaining("a transaction was stopped before it changed anything"),
    ]);
    expect(fixture.records()).toEqual([]);
    await sweepAsIfGone(fixture);
    expect(fixture.snapshot()).toEqual(before);
  });

  test("a worker that may not write only says it", async () => {
    using fixture = new TransactionsFixture("descriptors", sampleTree);
    await fixture.crashAfter(everyKind(fixture), 5);
    const before = fixture.snapshot();
    await fixture.recover({ readOnly: true });
    expect(fixture.snapshot()).toEqual(before);
    expect(fixture.records()).toEqual([".json"]);
    expect(fixture.lines).toEqual([expect.stringContaining("only a worker that may write can finish")]);
  });

  test("what is in use by another process stays", async () => {
    using fixture = new TransactionsFixture("descriptors", sampleTree);
    await fixture.crashAfter(everyKind(fixture), 5);
    const before = fixture.snapshot();
    await sweepAsIfGone(fixture);
    expect(fixture.snapshot()).toEqual(before);
  });
});

describe("the recovery itself is stopped", () => {
  /** The actions of the recovery on the tree. */
  const actions = {
    moveBack: steps.moveBack,
    exchangeBack: steps.exchangeBack,
    restoreMode: steps.restoreMode,
    removeTemporary: steps.removeTemporary,
  } as const;

  test.each(points.slice(1))("a full disk at its action %d: the next start goes on", async (action) => {
    using fixture = new TransactionsFixture("descriptors", sampleTree);
    const before = fixture.snapshot();
    await fixture.crashAfter(everyKind(fixture), count);
    let made = 0;
    const spies = Object.entries(actions).map(([name, act]) =>
      spyOn(steps, name as keyof typeof actions).mockImplementation(((...args: never[]) => {
        if (++made === action) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
        return (act as (...args: never[]) => unknown)(...args);
      }) as never),
    );
    try {
      await expect(fixture.recover()).rejects.toThrow(
        /cannot be taken back now \(ENOSPC\): nothing is served/,
      );
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
    expect(fixture.records()).toEqual([".json"]);
    await fixture.recover();
    expect(fixture.snapshot()).toEqual(before);
    expect(fixture.records()).toEqual([]);
  });
});

/** Changes by another program between the kill and the start, after all steps were done. */
const foreignChanges: Readonly<Record<string, [path: string, act: (fixture: TransactionsFixture) => void]>> =
  {
    "to a new file": ["newer/other.txt", ({ at }) => appendFileSync(at("newer/other.txt"), "more")],
    "of the same length to a replaced file": ["a.txt", ({ at }) => writeFileSync(at("a.txt"), "AGAIN\n")],
    "a new file for a replaced one": ["a.txt", ({ at }) => replace(at("a.txt"), "again\n")],
    "a file in a new folder": ["newer/theirs.txt", ({ at }) => writeFileSync(at("newer/theirs.txt"), "")],
    "a file in a copied folder": ["copy/deep/theirs", ({ at }) => writeFileSync(at("copy/deep/theirs"), "")],
    "to a file of a copied folder": [
      "copy/deep/y.txt",
      ({ at }) => changeInAnotherTick(at("copy/deep/y.txt")),
    ],
    "a file where one was removed": ["hard-1", ({ at }) => writeFileSync(at("hard-1"), "")],
    "of a mode": ["x.txt", ({ at }) => chmodSync(at("x.txt"), 0o711)],
    "a removal": ["newer/moved/deep/y.txt", ({ at }) => unlinkSync(at("newer/moved/deep/y.txt"))],
    "a move of a folder": ["new", ({ at }) => renameSync(at("newer"), at("newest"))],
  };

/** Changes the file until its time differs, since times are those of the last tick of a clock. */
function changeInAnotherTick(path: string): void {
  const { ctimeNs } = lstatSync(path, { bigint: true });
  do appendFileSync(path, "more");
  while (lstatSync(path, { bigint: true }).ctimeNs === ctimeNs);
}

function replace(path: string, text: string): void {
  unlinkSync(path);
  writeFileSync(path, text);
}

describe("another program has changed something since", () => {
  test.each(Object.entries(foreignChanges))("%s: nothing is overwritten", async (_, [path, act]) => {
    using fixture = new TransactionsFixture("descriptors", sampleTree);
    await fixture.crashAfter(everyKind(fixture), count);
    act({ at: (of: string) => fixture.at(of) } as TransactionsFixture);
    const left = fixture.snapshot();
    await fixture.recover();
    expect(fixture.snapshot()).toEqual(left);
    expect(fixture.records()).toEqual([".conflict"]);
    expect(fixture.lines.at(-1)).toContain("a transaction was left half done");
    expect(fixture.lines.at(-1)).toContain(path);
    await sweepAsIfGone(fixture);
    expect(fixture.snapshot()).toEqual(left);
    fixture.lines.length = 0;
    await fixture.recover();
    expect(fixture.lines).toEqual([
      expect.stringContaining("is still there; remove it once you have looked"),
    ]);
    rmSync(join(recordOf(fixture)));
    await sweepAsIfGone(fixture);
    expect([...fixture.snapshot().keys()].filter((key) => key.includes("coder-tmp"))).toEqual([]);
  });

  test("what was not done yet may have changed in any way", async () => {
    using fixture = new TransactionsFixture("descriptors", sampleTree);
    await fixture.crashAfter(everyKind(fixture), 8);
    unlinkSync(fixture.at("hard-1"));
    writeFileSync(fixture.at("c.txt"), "theirs");
    rmSync(fixture.at("old"), { recursive: true });
    const expected = new Map(fixture.snapshot());
    await fixture.recover();
    expect(fixture.records()).toEqual([]);
    const now = fixture.snapshot();
    expect(now.get("c.txt")).toEqual(expected.get("c.txt"));
    expect([now.has("hard-1"), now.has("old/"), now.has("copy/"), now.has("new/")]).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(now.get("a.txt")?.content).toBe("a\n");
  });

  test("another folder in the place of the one that was served is left alone", async () => {
    using fixture = new TransactionsFixture("descriptors", sampleTree);
    await fixture.crashAfter(everyKind(fixture), 8);
    renameSync(fixture.base, join(fixture.root, "former"));
    mkdirSync(fixture.base);
    fixture.add(sampleTree);
    const before = fixture.snapshot();
    const jail = openJail({ basePath: fixture.base, deny: compileGlobSet([]) });
    const { context, state, log, lines } = fixture;
    await recoverIn({ files: { ...context, jail }, folder: state, readOnly: false, log });
    jail.close();
    expect(fixture.snapshot()).toEqual(before);
    expect(fixture.records()).toEqual([".json"]);
    expect(lines).toEqual([expect.stringContaining("a folder that is no longer here")]);
  });
});

test("a worker that goes on finishes what another has left, before its next transaction", async () => {
  using fixture = new TransactionsFixture("descriptors", sampleTree);
  await fixture.crashAfter(everyKind(fixture), 11);
  await fixture.commit([{ kind: "place", path: "n", staged: fileOf("n"), change: 0 }]);
  const { n, ...rest } = treeOf(fixture.snapshot());
  using other = new TransactionsFixture("descriptors", sampleTree);
  expect([n, rest]).toEqual(["n", treeOf(other.snapshot())]);
  expect(fixture.records()).toEqual([]);
});

test("a transaction after a crash that was taken back works as ever", async () => {
  using fixture = new TransactionsFixture("descriptors", sampleTree);
  await fixture.crashAfter(everyKind(fixture), 11);
  await fixture.recover();
  await fixture.commit([{ kind: "place", path: "n", staged: fileOf("n"), change: 0 }]);
  expect(existsSync(fixture.at("n"))).toBe(true);
});

function recordOf({ state }: TransactionsFixture): string {
  const folder = state.find("intents")!;
  return join(folder, readdirSync(folder)[0]!);
}

/** Sweeps as if the processes that made the temporary entries had ended. */
async function sweepAsIfGone(fixture: TransactionsFixture): Promise<void> {
  const temporary = await import("../jail/temporary.ts");
  const gone = spyOn(temporary, "isGone").mockReturnValue(true);
  try {
    await new DiskTree(fixture.context).sweep();
  } finally {
    gone.mockRestore();
  }
}
