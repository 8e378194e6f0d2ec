import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { Refusal, refuse } from "../../base/errors.ts";
import { type Deadline, deadlineIn } from "../../base/scheduling/deadline.ts";
import type { Mutation } from "../disk/mutation.ts";
import type { Step } from "../disk/steps.ts";
import { isTemporary } from "../jail/temporary.ts";
import { DiskTree } from "../operations/disk-tree.ts";
import { verbsOn } from "../operations/verbs.test-kit.ts";
import { fileOf, sampleTree, TransactionsFixture } from "./transactions.test-kit.ts";

test("without a place for the record nothing is begun", async () => {
  using fixture = new TransactionsFixture("descriptors", sampleTree);
  const before = fixture.snapshot();
  const steps = [{ kind: "place", path: "n", staged: fileOf("n"), change: 0 }] as const;
  writeFileSync(`${fixture.root}/state`, "a file");
  const refused = fixture.commit(steps);
  await expect(refused).rejects.toMatchObject({
    reason: "io",
    message: expect.stringMatching(/cannot be kept \((ENOTDIR|EEXIST|the state)/),
  });
  expect(fixture.snapshot()).toEqual(before);
});

test("a state folder that became open to others is not used", async () => {
  using fixture = new TransactionsFixture("descriptors", sampleTree);
  mkdirSync(fixture.state.location, { recursive: true });
  chmodSync(fixture.state.location, 0o755);
  const refused = fixture.commit([{ kind: "place", path: "n", staged: fileOf("n"), change: 0 }]);
  await expect(refused).rejects.toMatchObject({ message: expect.stringMatching(/not private to this user/) });
});

test("a single change of the same path waits for a transaction, and is made on what that leaves", async () => {
  using fixture = new TransactionsFixture("descriptors", sampleTree);
  const files = verbsOn(new DiskTree(fixture.context));
  const append = (text: string) =>
    files.update("a.txt", (before) => Buffer.concat([before, Buffer.from(text)]), fixture.call);
  const planned = Promise.withResolvers<void>();
  let plans = 0;
  let last: Promise<unknown> | undefined;
  const plan = async () => {
    if (++plans === 1) planned.resolve();
    else last = append("last\n");
    const steps = [
      {
        kind: "exchange",
        path: "a.txt",
        staged: fileOf("new\n"),
        expected: fixture.version("a.txt"),
        change: 0,
      },
    ] as const;
    return { steps, keys: new Set(["a.txt"]), value: undefined };
  };
  let transaction: Promise<unknown> | undefined;
  // The first plan is made while an edit has the lock of the path, so a second one is made once the
  // transaction has it.
  await files.update(
    "a.txt",
    async (before) => {
      transaction = fixture.transactions.run(plan, { requester: fixture.call });
      await planned.promise;
      return Buffer.concat([before, Buffer.from("edited\n")]);
    },
    fixture.call,
  );
  await transaction;
  await last;
  expect(plans).toBe(2);
  expect(fixture.snapshot().get("a.txt")?.content).toBe("new\nlast\n");
});

test("what another call changes while a transaction is planned is planned with", async () => {
  using fixture = new TransactionsFixture("descriptors", sampleTree);
  const files = verbsOn(new DiskTree(fixture.context));
  let plans = 0;
  const plan = async () => {
    const expected = fixture.version("a.txt");
    if (++plans === 1) await files.update("a.txt", () => Buffer.from("edited meanwhile\n"), fixture.call);
    const steps = [
      { kind: "exchange", path: "a.txt", staged: fileOf("new\n"), expected, change: 0 },
    ] as const;
    return { steps, keys: new Set(["a.txt"]), value: undefined };
  };
  await fixture.transactions.run(plan, { requester: fixture.call });
  expect([plans, fixture.snapshot().get("a.txt")?.content]).toEqual([2, "new\n"]);
});

test.each([
  ["a file that is another by then", (at: string) => writeFileSync(at, "of another program\n")],
  ["a file that is gone by then", (at: string) => rmSync(at)],
  ["a name that is taken by then", (at: string) => writeFileSync(`${at}.new`, "of another program\n")],
])("%s is planned with once more", async (_, interfere) => {
  using fixture = new TransactionsFixture("descriptors", sampleTree);
  let plans = 0;
  const plan = async () => {
    const steps = ["a.txt", "a.txt.new"].map((path, change): Step => {
      const placed = { kind: "place", path, staged: fileOf("planned"), change } as const;
      if (!existsSync(fixture.at(path))) return placed;
      return { ...placed, kind: "exchange", expected: fixture.version(path) };
    });
    if (plans++ === 0) interfere(fixture.at("a.txt"));
    return { steps, keys: new Set<string>(), value: undefined };
  };
  await fixture.transactions.run(plan, { requester: fixture.call });
  expect(plans).toBe(2);
  const [old, added] = ["a.txt", "a.txt.new"].map((path) => fixture.snapshot().get(path)?.content);
  expect([old, added]).toEqual(["planned", "planned"]);
});

test("what is another each time is refused, by a sentence of the call if it has one", async () => {
  using fixture = new TransactionsFixture("descriptors", sampleTree);
  let plans = 0;
  const plan = async () => {
    const expected = fixture.version("a.txt");
    writeFileSync(fixture.at("a.txt"), "x".repeat(++plans));
    const steps = [{ kind: "exchange", path: "a.txt", staged: fileOf("b"), expected, change: 3 }] as const;
    return { steps, keys: new Set<string>(), value: undefined };
  };
  const requester = fixture.call;
  const refused = fixture.transactions.run(plan, { requester });
  await expect(refused).rejects.toMatchObject({ reason: "io", details: { change: 3 } });
  expect(plans).toBe(2);
  const whenChanged = ({ details }: Refusal) => refuse.revisionMismatch("a.txt", details!);
  const named = fixture.transactions.run(plan, { requester, whenChanged });
  await expect(named).rejects.toMatchObject({ reason: "revision-mismatch", details: { change: 3 } });
  expect([plans, fixture.records()]).toEqual([4, []]);
});

/** Returns a deadline that expires after `checks` checks, and the number of checks so far. */
function deadlineAfter(checks: number): { deadline: Deadline; used: () => number } {
  let used = 0;
  const check = () => {
    if (used++ >= checks) throw refuse.timeout(1000);
  };
  const { milliseconds, signal } = deadlineIn(Number.POSITIVE_INFINITY);
  return {
    deadline: {
      milliseconds,
      signal,
      left: 1000,
      spent: 0,
      refusal: refuse.timeout(1000),
      check,
      restart: () => {},
      suspend: () => {},
      end: () => {},
    },
    used: () => used,
  };
}

const placing = (count: number): Step[] =>
  Array.from({ length: count }, (_, index) => ({
    kind: "place",
    path: `n${index}`,
    staged: fileOf("n"),
    change: index,
  }));

const run = (fixture: TransactionsFixture, steps: readonly Step[], deadline: Deadline) =>
  fixture.transactions.run(async () => ({ steps, keys: new Set<string>(), value: undefined }), {
    requester: { ...fixture.call, deadline },
  });

test("one that will not end in time stops early enough to be taken back in time", async () => {
  const count = 100;
  const whole = deadlineAfter(Number.POSITIVE_INFINITY);
  {
    using other = new TransactionsFixture("descriptors", sampleTree);
    await run(other, placing(count), whole.deadline);
  }
  /** Runs steps that take a millisecond each, with time for `enough` of them. Returns the number made. */
  const stepsMade = async (enough: number): Promise<number | "all"> => {
    using fixture = new TransactionsFixture("descriptors", sampleTree);
    const before = fixture.snapshot();
    const { deadline, used } = deadlineAfter(Number.POSITIVE_INFINITY);
    const staged = whole.used() - count;
    const timed = {
      ...deadline,
      get left(): number {
        return Math.max(0, enough - this.spent);
      },
      get spent(): number {
        return Math.max(0, used() - staged);
      },
    };
    const error = await run(fixture, placing(count), timed).catch((thrown: Error) => thrown);
    if (!(error instanceof Error)) return "all";
    expect(error).toMatchObject({ reason: "timeout" });
    expect(fixture.snapshot()).toEqual(before);
    return used() - staged - 1;
  };
  expect(await stepsMade(count + 2)).toBe("all");
  expect(await stepsMade(count / 2)).toBe(count / 4);
});

test("one that runs out of time is taken back, at whichever step, while other work goes on", async () => {
  using fixture = new TransactionsFixture("descriptors", sampleTree);
  const before = fixture.snapshot();
  const whole = deadlineAfter(Number.POSITIVE_INFINITY);
  {
    using other = new TransactionsFixture("descriptors", sampleTree);
    await run(other, placing(5), whole.deadline);
  }
  for (let checks = 0; checks < whole.used(); checks++) {
    await expect(run(fixture, placing(5), deadlineAfter(checks).deadline)).rejects.toMatchObject({
      reason: "timeout",
    });
    expect(fixture.snapshot()).toEqual(before);
  }
  const many = 2000;
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  // The deadline expires when all files are staged and nearly all are placed.
  const late = deadlineAfter(whole.used() - 5 + 2 * (many - 5) + 4).deadline;
  await expect(run(fixture, placing(many), late)).rejects.toMatchObject({ reason: "timeout" });
  isOver = true;
  expect(fixture.snapshot()).toEqual(before);
  expect(turns).toBeGreaterThan(10);
});

test("one whose worker stops is taken back, at whichever step, and the refusal says so", async () => {
  using fixture = new TransactionsFixture("descriptors", sampleTree);
  const before = fixture.snapshot();
  const check = () => {
    if (checks-- === 0) throw refuse.stopping();
  };
  let checks = Number.POSITIVE_INFINITY;
  const { deadline, used } = deadlineAfter(Number.POSITIVE_INFINITY);
  {
    using other = new TransactionsFixture("descriptors", sampleTree);
    await run(other, placing(3), deadline);
  }
  for (let at = 0; at < used(); at++) {
    checks = at;
    await expect(run(fixture, placing(3), { ...deadline, check })).rejects.toMatchObject({
      reason: "timeout",
      message: expect.stringMatching(/rolled back\. Nothing was changed/),
    });
    expect([fixture.snapshot(), fixture.records()]).toEqual([before, []]);
  }
});

test("what is staged and taken away before it is recorded is a refusal, and no failure of ours", async () => {
  using fixture = new TransactionsFixture("descriptors", sampleTree, [], { fsync: true });
  const before = fixture.snapshot();
  let taken = 0;
  // A file is staged right after its check, so the check of the next file finds it.
  const check = () => {
    for (const name of readdirSync(fixture.base)) {
      if (!isTemporary(name)) continue;
      rmSync(`${fixture.base}/${name}`);
      taken++;
    }
  };
  const deadline = { ...deadlineAfter(Number.POSITIVE_INFINITY).deadline, check };
  const failure = await run(fixture, placing(50), deadline).catch((error: unknown) => error);
  expect(taken).toBeGreaterThan(0);
  expect(failure).toBeInstanceOf(Refusal);
  expect(fixture.snapshot()).toEqual(before);
});

test("a transaction keeps few objects for each of its steps", async () => {
  const countObjects = () => {
    Bun.gc(true);
    return heapStats().objectCount;
  };
  const count = 2000;
  let made = 0;
  let objects = 0;
  const after = ({ isTree }: Mutation) => {
    if (!isTree && ++made === count) objects = countObjects();
  };
  using fixture = new TransactionsFixture("descriptors", sampleTree, [{ after }]);
  const steps = Array.from({ length: count }, (_, index): Step => {
    return { kind: "place", path: `f${index}`, staged: fileOf("n"), change: 0 };
  });
  const before = countObjects();
  await fixture.commit(steps);
  expect((objects - before) / count).toBeLessThan(20);
});
