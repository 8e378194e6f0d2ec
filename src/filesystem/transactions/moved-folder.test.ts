/** Tests rollbacks during which a call, or another program, moves a folder above their paths. */
import { describe, expect, spyOn, test } from "bun:test";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { refuse } from "../../base/errors.ts";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import * as reverting from "../disk/revert.ts";
import type { Step } from "../disk/steps.ts";
import { readEntries } from "../files/entries.ts";
import { reasonOf } from "../files/files.test-kit.ts";
import { temporaryName, transactionName } from "../jail/temporary.ts";
import { DiskTree } from "../operations/disk-tree.ts";
import { verbsOn } from "../operations/verbs.test-kit.ts";
import { fileOf, TransactionsFixture } from "./transactions.test-kit.ts";

const count = 40;
const sample = { "d/in/kept": "kept\n", "d/in/old": "old\n" };

/** Returns steps that leave a trace of each kind in a folder. */
function changing(fixture: TransactionsFixture): Step[] {
  const exchange = { path: "d/in/old", expected: fixture.version("d/in/old") };
  return [{ kind: "exchange", ...exchange, staged: fileOf("new\n"), change: 0 }, ...placing()];
}

const placing = (): Step[] =>
  Array.from({ length: count }, (_, index) => {
    return { kind: "place", path: `d/in/f${index}`, staged: fileOf("n"), change: index + 1 };
  });

const pathsOf = (steps: readonly Step[]) =>
  new Set(steps.map((step) => (step.kind === "rename" ? step.to : step.path)));

/** Runs a transaction whose time is up before its last step. Returns its refusal. */
const fail = (fixture: TransactionsFixture) => {
  const steps = changing(fixture);
  const plan = async () => ({ steps, keys: pathsOf(steps), value: undefined });
  const check = () => {
    if (existsSync(fixture.at(`d/in/f${count - 2}`))) throw refuse.timeout(1);
  };
  const deadline = Object.assign(deadlineIn(Number.POSITIVE_INFINITY), { check });
  const run = fixture.transactions.run(plan, { requester: { ...fixture.call, deadline } });
  return run.catch((error: unknown) => error);
};

const actions = { moveBack: reverting.moveBack, removeTemporary: reverting.removeTemporary } as const;

/** Calls `act` before an action of the rollback, counted from 1. */
function beforeAction(
  name: keyof typeof actions,
  number: number,
  act: () => void,
): Disposable & { readonly made: () => number } {
  let made = 0;
  const real = actions[name] as (...args: never[]) => unknown;
  const spy = spyOn(reverting, name).mockImplementation(((...args: never[]) => {
    if (++made === number) act();
    return real(...args);
  }) as never);
  return { made: () => made, [Symbol.dispose]: () => spy.mockRestore() };
}

const temporaryIn = (fixture: TransactionsFixture): string[] =>
  [...fixture.snapshot().keys()].filter((path) => path.includes("coder-tmp"));

/** Returns what the folder `d` contained, if it has the name `e` now. */
const renamed = (before: ReturnType<TransactionsFixture["snapshot"]>) =>
  new Map([...before].map(([path, entry]) => [path.replace(/^d\//, "e/"), entry] as const));

const sorted = (snapshot: ReadonlyMap<string, unknown>) => [...snapshot].sort(([a], [b]) => (a < b ? -1 : 1));

test("a move of a folder above waits for a rollback, or ends at its deadline", async () => {
  using fixture = new TransactionsFixture("descriptors", sample);
  const before = fixture.snapshot();
  const files = verbsOn(new DiskTree(fixture.context));
  const move = { from: "d", to: "e", overwrite: false, parents: false };
  const late = { ...fixture.call, deadline: deadlineIn(0) };
  const calls: Promise<unknown>[] = [];
  const log: string[] = [];
  using action = beforeAction("moveBack", 1, () => {
    const refused = reasonOf(() => files.move(move, late));
    const waiting = files.move(move, fixture.call).then(() => log.push(`moved after ${action.made()}`));
    calls.push(refused, waiting);
  });
  const failed = (await fail(fixture)) as Error;
  expect(failed).toMatchObject({ reason: "timeout" });
  expect(await calls[0]).toBe("timeout");
  await calls[1];
  expect(log).toEqual([`moved after ${count - 1}`]);
  expect(sorted(fixture.snapshot())).toEqual(sorted(renamed(before)));
  expect([fixture.records(), fixture.transactions.unresolved]).toEqual([[], []]);
});

describe.each([1, 7, count - 1])("another program moves a folder before step %d is rolled back", (step) => {
  const leave = async (fixture: TransactionsFixture) => {
    using _action = beforeAction("moveBack", step, () => renameSync(fixture.at("d"), fixture.at("e")));
    const error = await fail(fixture);
    const [id = ""] = fixture.transactions.unresolved;
    expect(error).toMatchObject({ reason: "io", details: { transaction: id } });
    expect(fixture.records()).toEqual([".conflict"]);
    return id;
  };

  test("it is listed, and rolled back once the folder is back", async () => {
    using fixture = new TransactionsFixture("descriptors", sample);
    const before = fixture.snapshot();
    const id = await leave(fixture);
    const left = fixture.snapshot();
    const options = { force: false, requester: fixture.call };
    const resolved = await fixture.transactions.resolve(id, options);
    expect(resolved).toMatchObject({ outcome: "in-conflict" });
    expect(fixture.transactions.unresolved).toEqual([id]);
    expect(fixture.snapshot()).toEqual(left);
    renameSync(fixture.at("e"), fixture.at("d"));
    expect(await fixture.transactions.resolve(id, options)).toEqual({ outcome: "taken-back", paths: [] });
    expect(fixture.snapshot()).toEqual(before);
    expect([fixture.records(), fixture.transactions.unresolved]).toEqual([[], []]);
  });

  test("with force, nothing is lost and nothing stays hidden", async () => {
    using fixture = new TransactionsFixture("descriptors", sample);
    const id = await leave(fixture);
    const options = { force: true, requester: fixture.call };
    expect(await fixture.transactions.resolve(id, options)).toMatchObject({ outcome: "given-up" });
    expect(temporaryIn(fixture)).toEqual([]);
    const contents = [...fixture.snapshot()].map(([, { content }]) => content);
    expect([contents.includes("old\n"), contents.includes("kept\n")]).toEqual([true, true]);
    expect([fixture.records(), fixture.transactions.unresolved]).toEqual([[], []]);
  });
});

test("another program removes a folder during a rollback: it is listed", async () => {
  using fixture = new TransactionsFixture("descriptors", sample);
  using _action = beforeAction("moveBack", 7, () => rmSync(fixture.at("d"), { recursive: true }));
  expect(await fail(fixture)).toMatchObject({ reason: "io" });
  expect([fixture.records(), fixture.transactions.unresolved.length]).toEqual([[".conflict"], 1]);
});

describe.each([2, 7, count - 3])("another program moves a folder after step %d", (made) => {
  /** Runs a transaction, whose folder is moved between two steps. Returns its refusal. */
  const failBetween = (fixture: TransactionsFixture) => {
    const steps = changing(fixture);
    const plan = async () => ({ steps, keys: pathsOf(steps), value: undefined });
    const check = () => {
      if (existsSync(fixture.at(`d/in/f${made - 2}`))) renameSync(fixture.at("d"), fixture.at("e"));
    };
    const deadline = Object.assign(deadlineIn(Number.POSITIVE_INFINITY), { check });
    const run = fixture.transactions.run(plan, { requester: { ...fixture.call, deadline } });
    return run.catch((error: unknown) => error);
  };

  test("it is listed, and rolled back once the folder is back", async () => {
    using fixture = new TransactionsFixture("descriptors", sample);
    const before = fixture.snapshot();
    const error = await failBetween(fixture);
    const [id = ""] = fixture.transactions.unresolved;
    expect(error).toMatchObject({ reason: "io", details: { transaction: id } });
    expect(fixture.records()).toEqual([".conflict"]);
    renameSync(fixture.at("e"), fixture.at("d"));
    const options = { force: false, requester: fixture.call };
    expect(await fixture.transactions.resolve(id, options)).toEqual({ outcome: "taken-back", paths: [] });
    expect(fixture.snapshot()).toEqual(before);
  });

  test("with force, nothing is lost and nothing stays hidden", async () => {
    using fixture = new TransactionsFixture("descriptors", {
      ...sample,
      "far/old": "far\n",
      "far/f0": "f\n",
    });
    await failBetween(fixture);
    const [id = ""] = fixture.transactions.unresolved;
    const options = { force: true, requester: fixture.call };
    expect(await fixture.transactions.resolve(id, options)).toMatchObject({ outcome: "given-up" });
    expect(temporaryIn(fixture)).toEqual([]);
    const contents = [...fixture.snapshot()].map(([, { content }]) => content);
    for (const content of ["old\n", "kept\n", "far\n", "f\n"]) expect(contents).toContain(content);
  });
});

describe.each([1, 7])("another program moves a folder after %d files are staged", (count) => {
  const leave = async (fixture: TransactionsFixture) => {
    const steps = changing(fixture);
    const plan = async () => ({ steps, keys: pathsOf(steps), value: undefined });
    const check = () => {
      if (temporaryIn(fixture).length === count && existsSync(fixture.at("d")))
        renameSync(fixture.at("d"), fixture.at("e"));
    };
    const deadline = Object.assign(deadlineIn(Number.POSITIVE_INFINITY), { check });
    const run = fixture.transactions.run(plan, { requester: { ...fixture.call, deadline } });
    expect(await run.catch((error: Error) => error)).toBeInstanceOf(Error);
    expect([fixture.records(), fixture.transactions.unresolved]).toEqual([[], []]);
    expect(temporaryIn(fixture)).toHaveLength(count);
  };
  const treeOf = ({ context }: TransactionsFixture) => new DiskTree(context);

  test("a listing of the folder removes these, and nothing else", async () => {
    using fixture = new TransactionsFixture("descriptors", sample);
    const before = fixture.snapshot();
    await leave(fixture);
    const others = [temporaryName(), transactionName({ id: "0".repeat(16), keeper: "0".repeat(8) }, 0)];
    for (const name of others) writeFileSync(fixture.at(`e/in/${name}`), "");
    using folder = fixture.jailed.admitFolder("e/in");
    expect(treeOf(fixture).sweepFolder(folder, runAtOnce(readEntries(folder)))).toBe(count);
    expect(temporaryIn(fixture).sort()).toEqual(others.map((name) => `e/in/${name}`).sort());
    for (const path of temporaryIn(fixture)) rmSync(fixture.at(path));
    expect(sorted(fixture.snapshot())).toEqual(sorted(renamed(before)));
  });

  test("the folder counts as empty when everything else in it is removed", async () => {
    using fixture = new TransactionsFixture("descriptors", sample);
    await leave(fixture);
    for (const name of ["kept", "old"]) rmSync(fixture.at(`e/in/${name}`));
    expect(await verbsOn(treeOf(fixture)).remove("e/in", { recursive: false }, fixture.call)).toBe(true);
    expect(temporaryIn(fixture)).toEqual([]);
  });
});
