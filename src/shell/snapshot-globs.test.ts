import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { snapshotTree } from "../../tests/harness/tree.ts";
import { cloneContent } from "../filesystem/jail/clone-file.ts";
import { backends } from "../filesystem/jail/jail.test-kit.ts";
import { JournalFixture, loopIterationsDuring } from "../filesystem/journal/journal.test-kit.ts";
import { FilesSnapshot, type SnapshotOutcome } from "../filesystem/journal/snapshot.ts";
import { compileSnapshotGlobs } from "./snapshot-globs.ts";

const mebibyte = 2 ** 20;

interface Command {
  readonly globs?: readonly string[];
  readonly bounds?: { readonly files: number; readonly bytes: number };
  readonly act: (base: string) => void;
}

/** Runs a function instead of a command. */
async function run(at: JournalFixture, { globs = ["**"], bounds, act }: Command): Promise<SnapshotOutcome> {
  const { jailed: jail, base } = at.bench;
  const options = { selection: compileSnapshotGlobs(globs)!, jail, journal: at.journal };
  const call = at.call("shell::exec");
  const snapshot = await FilesSnapshot.take({ ...options, ...(bounds && { bounds }) }, call);
  act(base);
  const outcome = await snapshot.record(call);
  expect(readdirSync(join(at.journal.state.location, "held"))).toEqual([]);
  return outcome;
}

const named = ({ recorded }: SnapshotOutcome) => [...recorded].sort();

/** Returns the files and links, with modes and contents. */
const filesIn = (at: JournalFixture) =>
  [...snapshotTree(at.bench.root)].filter(([, { kind }]) => kind !== "dir").sort();

describe.each(backends)("%s", (backend) => {
  test("only files that the globs select and calls may change are held", async () => {
    using at = new JournalFixture(backend, {
      "src/a.ts": "a",
      "src/a.js": "a",
      ".env": "secret",
      "node_modules/p/b.ts": "b",
    });
    const act = (base: string) => {
      for (const path of ["src/a.ts", "src/a.js", ".env", "node_modules/p/b.ts"])
        writeFileSync(join(base, path), "changed");
    };
    expect(named(await run(at, { globs: ["*.ts", ".env"], act }))).toEqual(["src/a.ts"]);
    expect(
      named(
        await run(at, { globs: ["node_modules/"], act: (base) => rmSync(join(base, "node_modules/p/b.ts")) }),
      ),
    ).toEqual(["node_modules/p/b.ts"]);
    expect(at.read().map(({ function_id: id, caller }) => ({ id, caller }))).toEqual([
      { id: "shell::exec", caller: "tester" },
      { id: "shell::exec", caller: "tester" },
    ]);
  });

  test("a glob of a folder selects the files in it, and one without a slash none", async () => {
    using at = new JournalFixture(backend, { "src/a": "a", "lib/src/b": "b", "lib/c/d": "d" });
    const act = (base: string) => {
      for (const path of ["src/a", "lib/src/b", "lib/c/d"]) rmSync(join(base, path), { force: true });
    };
    expect(named(await run(at, { globs: ["src/", "lib/c"], act }))).toEqual(["lib/src/b", "src/a"]);
  });

  test("nothing is recorded where nothing has changed, touched files included", async () => {
    using at = new JournalFixture(backend, { f: "x", g: { link: "f" } });
    const outcome = await run(at, { act: (base) => writeFileSync(join(base, "f"), "x") });
    expect(outcome).toEqual({ checkpoint: undefined, recorded: new Set(), lost: [], hasHeld: true });
    expect(at.read()).toEqual([]);
  });

  test("a file beyond the bound is named only if it was changed", async () => {
    using at = new JournalFixture(backend, { "a.bin": "x".repeat(mebibyte), "b.bin": "x", c: "x" });
    const bounds = { files: 10, bytes: mebibyte };
    const act = (base: string) => {
      for (const path of ["a.bin", "c"]) writeFileSync(join(base, path), "changed");
    };
    const outcome = await run(at, { bounds, act });
    expect(named(outcome)).toEqual(["a.bin"]);
    expect(outcome.lost).toEqual([{ path: "c", reason: "not held, which takes 1 MiB at most" }]);
  });

  test("a large file is held in slices, unless the copy shares its blocks", async () => {
    using at = new JournalFixture(backend, { large: "", probe: "" });
    truncateSync(join(at.bench.base, "large"), 40 * mebibyte);
    const [from, to] = ["large", "probe"].map((path) => openSync(join(at.bench.base, path), "r+"));
    const isShared = cloneContent(from!, to!);
    for (const descriptor of [from!, to!]) closeSync(descriptor);
    const { now } = Date;
    // A file that was changed just now is compared too.
    Date.now = () => now() + 1000;
    try {
      const iterations = await loopIterationsDuring(() => run(at, { globs: ["large"], act: () => {} }));
      expect(iterations).toBeGreaterThan(isShared ? 0 : 15);
    } finally {
      Date.now = now;
    }
  });

  test("a large file is compared in slices", async () => {
    using at = new JournalFixture(backend, { same: "", changed: "" });
    const large = Buffer.alloc(8 * mebibyte, "text\n");
    for (const path of ["same", "changed"]) writeFileSync(join(at.bench.base, path), large);
    const act = (base: string) => {
      writeFileSync(join(base, "same"), large);
      writeFileSync(join(base, "changed"), large.fill("other", 0, 5));
    };
    let outcome: SnapshotOutcome | undefined;
    const iterations = await loopIterationsDuring(async () => {
      outcome = await run(at, { act });
    });
    expect(named(outcome!)).toEqual(["changed"]);
    // 256 pieces are hashed, and a slice has at most two of them.
    expect(iterations).toBeGreaterThan(100);
  });

  test("too many files are not held at all", async () => {
    using at = new JournalFixture(backend, { a: "1", b: "2", c: "3" });
    const outcome = await run(at, {
      bounds: { files: 2, bytes: 100 },
      act: (base) => rmSync(join(base, "a")),
    });
    expect(outcome.checkpoint).toBeUndefined();
    expect(outcome.lost.map(({ reason }) => reason)).toEqual([
      "snapshot names more than 2 files, so none was held; name fewer",
    ]);
  });

  test("an undo restores the files and links of a random tree, and another one the changes", async () => {
    const path = fc.constantFrom("a", "b", "d/a", "d/b", "d/e/a", "d/e/f/a", "g/a");
    const text = fc.constantFrom("", "x", "y\n", "z".repeat(2000));
    const operation = fc.oneof(
      fc.record({ op: fc.constant("write" as const), path, text }),
      fc.record({ op: fc.constant("link" as const), path, text: fc.constantFrom("a", "nowhere") }),
      fc.record({
        op: fc.constant("remove" as const),
        path: fc.oneof(path, fc.constantFrom("d", "d/e", "g")),
      }),
      fc.record({ op: fc.constant("chmod" as const), path }),
      fc.record({ op: fc.constant("rename" as const), path, to: path }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(path, text, { maxKeys: 6 }),
        fc.array(operation, { maxLength: 8 }),
        async (tree, operations) => {
          using at = new JournalFixture(backend, tree);
          const before = filesIn(at);
          const outcome = await run(at, {
            act: (base) => {
              for (const one of operations) perform(base, one);
            },
          });
          const after = filesIn(at);
          if (outcome.checkpoint === undefined) return expect(after).toEqual(before);
          expect(await at.undo()).toMatchObject({ conflicts: [] });
          expect(filesIn(at)).toEqual(before);
          expect(await at.undo()).toMatchObject({ conflicts: [] });
          expect(filesIn(at)).toEqual(after);
        },
      ),
      { numRuns: 15 },
    );
  });
});

type Operation =
  | { readonly op: "write" | "link"; readonly path: string; readonly text: string }
  | { readonly op: "remove" | "chmod"; readonly path: string }
  | { readonly op: "rename"; readonly path: string; readonly to: string };

function perform(base: string, operation: Operation): void {
  const path = join(base, operation.path);
  switch (operation.op) {
    case "write":
    case "link":
      rmSync(path, { recursive: true, force: true });
      mkdirSync(dirname(path), { recursive: true });
      if (operation.op === "write") writeFileSync(path, operation.text);
      else symlinkSync(operation.text, path);
      break;
    case "remove":
      rmSync(path, { recursive: true, force: true });
      break;
    case "chmod":
      if (existsSync(path)) chmodSync(path, 0o640);
      break;
    case "rename": {
      const to = join(base, operation.to);
      if (existsSync(path) && existsSync(dirname(to))) renameSync(path, to);
    }
  }
}

test("a change that the journal has no room for, or cannot write, says which", async () => {
  using at = new JournalFixture("descriptors", { f: "x".repeat(5000) }, { max_bytes: 4096 });
  const lost = async (letter: string) => {
    const act = (base: string) => writeFileSync(join(base, "f"), letter.repeat(5000));
    return (await run(at, { act })).lost;
  };
  expect(await lost("y")).toEqual([{ path: "f", reason: "the journal has no room for it" }]);
  Object.defineProperty(at.journal, "failure", { value: "ENOSPC" });
  expect(await lost("z")).toEqual([{ path: "f", reason: "the journal cannot be written" }]);
});
