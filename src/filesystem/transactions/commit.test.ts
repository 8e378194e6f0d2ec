import { describe, expect, spyOn, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { treeOf } from "../../../tests/harness/tree.ts";
import type { MutationListener } from "../disk/mutation.ts";
import { Recorder } from "../disk/recorder.test-kit.ts";
import { backends } from "../jail/jail.test-kit.ts";
import { Intents } from "./intents.ts";
import { StepRunner } from "./run-step.ts";
import { everyKind, fileOf, sampleTree, TransactionsFixture } from "./transactions.test-kit.ts";

// The last backend cannot rename into another folder, so plans do not contain such steps there.
const holding = backends.filter((backend) => backend !== "current-directory");

describe.each(holding)("%s", (backend) => {
  test("all steps are made, and nothing is left of their names and records", async () => {
    using fixture = new TransactionsFixture(backend, sampleTree);
    const { transaction } = await fixture.commit(everyKind(fixture));
    expect(transaction).toMatch(/^[0-9a-f]{16}$/);
    expect(treeOf(fixture.snapshot())).toEqual({
      "a.txt": "again\n",
      "c.txt": "b\n",
      "copy/": null,
      "copy/deep/": null,
      "copy/deep/new.txt": "in the copy\n",
      "copy/deep/y.txt": "y\n",
      gone: "a file now\n",
      "hard-2": "own\n",
      link: { link: "b.txt" },
      "newer/": null,
      "newer/link": { link: "../gone" },
      "newer/moved/": null,
      "newer/moved/deep/": null,
      "newer/moved/deep/y.txt": "moved\n",
      "newer/other.txt": "new\n",
      "x.txt": "x\n",
    });
    const modes = fixture.snapshot();
    expect([modes.get("x.txt")?.mode, modes.get("c.txt")?.mode, modes.get("gone")?.mode]).toEqual([
      0o700, 0o640, 0o755,
    ]);
    expect(fixture.records()).toEqual([]);
    expect(fixture.lines).toEqual([]);
  });
});

test("nothing to do makes no record", async () => {
  using fixture = new TransactionsFixture("descriptors", {});
  expect(await fixture.commit([])).toEqual({ value: undefined, transaction: undefined });
});

test("listeners get the steps as parts of one mutation", async () => {
  const recorder = new Recorder();
  using fixture = new TransactionsFixture("descriptors", sampleTree, [recorder]);
  const { transaction } = await fixture.commit(
    everyKind(fixture)
      .filter(({ kind }, index) => index < 5 || kind === "chmod")
      .slice(0, 5),
    "a label",
  );
  expect(recorder.take()).toEqual([
    "done make-folder dir new in ",
    "done create file new/file.txt in ",
    "done replace file a.txt in ",
    "done remove dir gone in ",
    "done create file gone in ",
    "done transaction dir ",
  ]);
  const whole = recorder.mutations[0]!;
  expect(whole.transaction).toEqual({ id: transaction!, label: "a label" });
  expect(recorder.mutations.slice(1).every((mutation) => mutation.whole === whole)).toBe(true);
});

test("large files are read ahead of the steps that replace, remove or move them, and no others", async () => {
  const large = "x".repeat(4 * 1024 * 1024);
  const seen: (number | undefined)[][] = [];
  const listener: MutationListener = {
    async readAhead({ replaced, placed }) {
      seen.push([replaced()?.size, placed?.()?.size]);
    },
  };
  const tree = { a: large, b: `${large}b`, c: `${large}cc`, d: `${large}ddd`, small: "x" };
  using fixture = new TransactionsFixture("descriptors", tree, [listener]);
  const expected = (path: string) => fixture.version(path);
  await fixture.commit([
    { kind: "exchange", path: "a", staged: fileOf("new"), expected: expected("a"), change: 0 },
    { kind: "set-aside", path: "b", expected: expected("b"), change: 1 },
    { kind: "rename", from: "c", to: "e", expected: expected("c"), change: 2 },
    { kind: "chmod", path: "d", mode: 0o600, expected: expected("d"), change: 3 },
    { kind: "set-aside", path: "small", expected: expected("small"), change: 4 },
  ]);
  const { length } = large;
  expect(seen).toEqual([[length], [length + 1], [undefined, length + 2]].map(([one, two]) => [one, two]));
});

describe("what the system refuses at some step", () => {
  const count = 22;
  const points = Array.from({ length: count }, (_, index) => index);
  test.each(points)("step %d: all is as it was", async (index) => {
    using fixture = new TransactionsFixture("descriptors", sampleTree);
    const steps = everyKind(fixture);
    expect(steps).toHaveLength(count);
    const wasThere = fixture.snapshot();
    using _failing = failAt(index);
    await expect(fixture.commit(steps)).rejects.toMatchObject({
      message: expect.stringContaining("ENOSPC"),
      details: { change: index },
    });
    expect(fixture.snapshot()).toEqual(wasThere);
    expect(fixture.records()).toEqual([]);
  });
});

test("a state folder that cannot keep the record is what the refusal is about, and no path", async () => {
  using fixture = new TransactionsFixture("descriptors", sampleTree);
  const wasThere = fixture.snapshot();
  using _ = spyOn(Intents.prototype, "write").mockRejectedValue(
    Object.assign(new Error("ENOSPC"), { code: "ENOSPC" }),
  );
  await expect(fixture.commit(everyKind(fixture))).rejects.toMatchObject({
    path: undefined,
    message: expect.stringMatching(
      /^The transaction was not begun, because its record cannot be kept \(ENOSPC\)\. /,
    ),
  });
  expect(fixture.snapshot()).toEqual(wasThere);
});

/** Makes the disk full at the step with this index. */
function failAt(index: number): Disposable {
  const run = StepRunner.prototype.run;
  let steps = 0;
  const spy = spyOn(StepRunner.prototype, "run").mockImplementation(function (this: StepRunner, draft) {
    if (steps++ === index) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
    return run.call(this, draft);
  });
  return { [Symbol.dispose]: () => spy.mockRestore() };
}

test("what a change expects is compared with what is there", async () => {
  using fixture = new TransactionsFixture("descriptors", sampleTree);
  const expected = fixture.version("a.txt");
  writeFileSync(fixture.at("a.txt"), "A\n");
  const before = fixture.snapshot();
  const steps = [
    { kind: "place", path: "n.txt", staged: fileOf("n"), change: 0 },
    { kind: "exchange", path: "a.txt", staged: fileOf("b"), expected, change: 1 },
  ] as const;
  await expect(fixture.commit(steps)).rejects.toMatchObject({ reason: "io", details: { change: 1 } });
  expect(fixture.snapshot()).toEqual(before);
});
