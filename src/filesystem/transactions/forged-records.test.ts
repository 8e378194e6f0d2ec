/**
 * Tests that records are not carried out if no worker has written them in this state folder, or no call could
 * change their paths.
 */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Tree } from "../../../tests/harness/tree.ts";
import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import { openJail } from "../jail/jail.ts";
import { temporaryName, transactionName } from "../jail/temporary.ts";
import { recordOf } from "./identity.ts";
import { Intents } from "./intents.ts";
import { folderIdentity } from "./prepare.ts";
import { committedMark, encodeRecord, type IntendedStep, type IntentRecord } from "./record.ts";
import { TransactionsFixture } from "./transactions.test-kit.ts";
import { recoverIn } from "./transactions.ts";

/** A tree with denied entries, and others that are not denied. */
const tree: Tree = {
  ".env": "secret\n",
  "locked/.env": "secret\n",
  "plain.txt": "plain\n",
  "folder/.env": "secret\n",
  "folder/x": "x\n",
};

interface Names {
  readonly temporary: string;
  readonly aside: string;
}

type Make = (fixture: TransactionsFixture, names: Names) => IntendedStep;

const entryAt = (fixture: TransactionsFixture, path: string) =>
  recordOf(lstatSync(fixture.at(path), { bigint: true }));

/** Puts a file at a path, and returns its entry. */
function placed(fixture: TransactionsFixture, path: string) {
  fixture.add({ [path]: "forged\n" });
  return entryAt(fixture, path);
}

/** A step of each kind for `path`, whose rollback would change the entry there, or create one. */
const kinds: Readonly<Record<IntendedStep["kind"], (path: string) => Make>> = {
  place:
    (path) =>
    (fixture, { temporary }) => ({
      ...{ kind: "place", path, temporary, staged: entryAt(fixture, path) },
    }),
  exchange: (path) => (fixture, names) => {
    const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/") + 1) : "";
    const entry = placed(fixture, folder + names.temporary);
    return { kind: "exchange", path, ...names, staged: entryAt(fixture, path), entry };
  },
  "set-aside":
    (path) =>
    (fixture, { temporary }) => {
      const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/") + 1) : "";
      rmSync(fixture.at(path), { recursive: true });
      return { kind: "set-aside", path, temporary, entry: placed(fixture, folder + temporary) };
    },
  rename: (path) => (fixture) => ({
    ...{ kind: "rename", from: "stolen.txt", to: path, entry: entryAt(fixture, path) },
  }),
  chmod: (path) => (fixture) => {
    const mode = lstatSync(fixture.at(path)).mode & 0o777;
    return { kind: "chmod", path, before: mode ^ 0o044, after: mode, entry: entryAt(fixture, path) };
  },
};

/** Returns a rename to `to`, whose rollback would move the entry back to `from`. */
const renamedFrom =
  (from: string, to: string): Make =>
  (fixture) => {
    rmSync(fixture.at(from), { recursive: true, force: true });
    return { kind: "rename", from, to, entry: entryAt(fixture, to) };
  };

interface Forgery {
  readonly isCommitted?: boolean;
  readonly edit?: (record: IntentRecord) => unknown;
  readonly editBytes?: (bytes: Buffer) => Buffer;
  /** The name of the file, without its ending. */
  readonly id?: string;
}

/** Writes a record like a worker that was killed. Returns its path. */
async function forge(fixture: TransactionsFixture, make: Make, forgery: Forgery = {}): Promise<string> {
  const intents = new Intents(fixture.state, { fsync: false });
  const mark = intents.newMark();
  const [temporary, aside] = [0, 1].map((index) => transactionName(mark, index)) as [string, string];
  const record: IntentRecord = {
    version: 1,
    transaction: mark.id,
    maker: temporaryName(),
    state: intents.identity,
    base: folderIdentity(fixture.jailed, "."),
    steps: [make(fixture, { temporary, aside })],
  };
  const edited = (forgery.edit?.(record) ?? record) as IntentRecord;
  const bytes = Buffer.concat([
    ...(await encodeRecord(edited, createTimeSlice(5))),
    ...(forgery.isCommitted ? [committedMark] : []),
  ]);
  const path = fixture.state.path("intents", `${forgery.id ?? mark.id}.json`);
  writeFileSync(path, forgery.editBytes?.(bytes) ?? bytes, { mode: 0o600 });
  return path;
}

/** Recovers. Returns whether the tree has changed, and the state of the record. */
async function outcomeOf(fixture: TransactionsFixture, deny?: readonly string[]) {
  const before = fixture.snapshot();
  const { context, state, log } = fixture;
  const jail =
    deny === undefined ? fixture.jailed : openJail({ basePath: fixture.base, deny: compileGlobSet(deny) });
  await recoverIn({ files: { ...context, jail }, folder: state, readOnly: false, log });
  if (jail !== fixture.jailed) jail.close();
  const isChanged = !Bun.deepEquals(fixture.snapshot(), before);
  return { isChanged, records: fixture.records() };
}

const left = { isChanged: false, records: [".json"] };
const kept = { isChanged: false, records: [".conflict"] };
const done = { isChanged: true, records: [] };

const aboutDenied: Readonly<Record<string, Make>> = {
  ...Object.fromEntries(Object.entries(kinds).map(([kind, make]) => [kind, make(".env")])),
  "a step in a folder": kinds.place("locked/.env"),
  "a rename from a denied path": renamedFrom(".env", "plain.txt"),
  "a rename of a folder with something denied": renamedFrom("public", "folder"),
  "a folder that was placed, with something denied": kinds.place("folder"),
  "a folder set aside, with something denied": (fixture, { temporary }) => {
    renameSync(fixture.at("folder"), fixture.at(temporary));
    return { kind: "set-aside", path: "folder", temporary, entry: entryAt(fixture, temporary) };
  },
};

describe("what the configuration denies is left to a worker whose rules allow it", () => {
  test.each(Object.entries(aboutDenied))("%s", async (_, make) => {
    using fixture = new TransactionsFixture("descriptors", tree);
    await forge(fixture, make);
    expect(await outcomeOf(fixture)).toEqual(left);
    expect(fixture.lines.at(-1)).toContain("that the configuration denies or protects");
    expect(await outcomeOf(fixture, [])).toEqual(done);
  });

  test("a committed one as well", async () => {
    using fixture = new TransactionsFixture("descriptors", tree);
    await forge(fixture, aboutDenied["a folder set aside, with something denied"]!, { isCommitted: true });
    expect(await outcomeOf(fixture)).toEqual(left);
    expect(await outcomeOf(fixture, [])).toEqual(done);
  });

  test.each([
    ["protected from writing", { denyWriting: { globs: compileGlobSet(["plain.txt"]) } }],
    ["the configuration", { protectedFiles: ["<base>/plain.txt"] }],
  ] as const)("what is %s", async (_, options) => {
    for (const make of Object.values(kinds)) {
      using fixture = new TransactionsFixture("descriptors", tree);
      await forge(fixture, make("plain.txt"));
      const protectedFiles =
        "protectedFiles" in options
          ? options.protectedFiles.map((path) => path.replace("<base>", fixture.base))
          : [];
      const before = fixture.snapshot();
      const jail = openJail({ basePath: fixture.base, deny: compileGlobSet([]), ...options, protectedFiles });
      const { context, state, log } = fixture;
      await recoverIn({ files: { ...context, jail }, folder: state, readOnly: false, log });
      jail.close();
      expect([fixture.snapshot(), fixture.records()]).toEqual([before, [".json"]]);
      expect(await outcomeOf(fixture)).toEqual(done);
    }
  });

  test("other transactions go on, and it is said once", async () => {
    using fixture = new TransactionsFixture("descriptors", tree);
    await forge(fixture, kinds.chmod(".env"));
    for (const path of ["n", "m"])
      await fixture.commit([
        { kind: "place", path, staged: { kind: "file", content: [], mode: 0o644 }, change: 0 },
      ]);
    expect(fixture.lines.filter((line) => line.includes("denies or protects"))).toHaveLength(1);
    expect(fixture.records()).toEqual([".json"]);
  });
});

type Step = IntendedStep & Record<string, unknown>;
const withStep = (edit: (step: Step) => object) => (record: IntentRecord) => ({
  ...record,
  steps: record.steps.map((step) => edit(step as Step)),
});

const forgeries: Readonly<Record<string, Forgery>> = {
  "one byte is another": {
    editBytes: (bytes) => {
      const at = bytes.indexOf("plain.txt");
      bytes[at]! ^= 1;
      return bytes;
    },
  },
  "cut short": { editBytes: (bytes) => bytes.subarray(0, -20) },
  empty: { editBytes: () => Buffer.alloc(0) },
  "of another state folder": { edit: (record) => ({ ...record, state: { dev: "1", ino: "1" } }) },
  "without a state folder": { edit: ({ state: _, ...record }) => record },
  "of another transaction": { id: "0123456789abcdef" },
  "of no process": { edit: (record) => ({ ...record, maker: "maker" }) },
  "of another version": { edit: (record) => ({ ...record, version: 2 }) },
  "without steps": { edit: (record) => ({ ...record, steps: [] }) },
  "of an unknown kind": { edit: withStep((step) => ({ ...step, kind: "toString" })) },
  "with a path that leaves the base": {
    edit: withStep((step) =>
      step.kind === "rename" ? { ...step, from: "../x" } : { ...step, path: "../x" },
    ),
  },
  "with an absolute path": {
    edit: withStep((step) => (step.kind === "rename" ? { ...step, to: "/x" } : { ...step, path: "/x" })),
  },
  "with an entry that is none": {
    edit: withStep(({ entry, staged, ...step }) => ({ ...step, entry: entry && 1, staged: staged && {} })),
  },
};

describe("a record that no worker wrote here is kept for a person", () => {
  describe.each(Object.entries(kinds))("%s", (_, make) => {
    test.each(Object.entries(forgeries))("%s", async (_, forgery) => {
      using fixture = new TransactionsFixture("descriptors", tree);
      await forge(fixture, make("plain.txt"), forgery);
      expect(await outcomeOf(fixture)).toEqual(kept);
      expect(fixture.lines.at(-1)).toContain("not one that a worker wrote here");
    });

    test("one that a worker wrote is finished", async () => {
      using fixture = new TransactionsFixture("descriptors", tree);
      await forge(fixture, make("plain.txt"));
      expect(await outcomeOf(fixture)).toEqual(done);
    });
  });

  test.each([
    ["place", "temporary"],
    ["exchange", "temporary"],
    ["exchange", "aside"],
    ["set-aside", "temporary"],
  ] as const)("a step %s whose %s is the name of another file", async (kind, field) => {
    const others = [
      "plain.txt",
      temporaryName(),
      transactionName({ id: "0".repeat(16), keeper: "0".repeat(8) }, 0),
    ];
    for (const name of others)
      for (const isCommitted of [false, true]) {
        using fixture = new TransactionsFixture("descriptors", { ...tree, [name]: "plain\n" });
        const edit = withStep((step) => ({ ...step, [field]: name }));
        await forge(fixture, kinds[kind]("folder/x"), { edit, isCommitted });
        expect(await outcomeOf(fixture)).toEqual(kept);
      }
  });

  test("what is no private file of this user is not read", async () => {
    using fixture = new TransactionsFixture("descriptors", tree);
    const path = await forge(fixture, kinds.chmod("plain.txt"));
    const elsewhere = join(fixture.root, "elsewhere");
    renameSync(path, elsewhere);
    const replacements: Readonly<Record<string, readonly [make: () => void, end: string]>> = {
      link: [() => symlinkSync(elsewhere, path), ".json"],
      folder: [() => mkdirSync(path), ".json"],
      fifo: [() => spawnSync("mkfifo", [path]), ".json"],
      "second name": [() => linkSync(elsewhere, path), ".conflict"],
    };
    for (const [name, [replace, end]] of Object.entries(replacements)) {
      replace();
      expect([name, await outcomeOf(fixture)]).toEqual([name, { isChanged: false, records: [end] }]);
      const folder = fixture.state.find("intents")!;
      for (const one of readdirSync(folder)) rmSync(join(folder, one), { recursive: true });
    }
    expect(readFileSync(elsewhere, "utf8")).toContain("plain.txt");
  });
});
