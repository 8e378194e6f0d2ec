/** For tests: transactions in a sandbox. */
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Snapshot, snapshotTree, type Tree } from "../../../tests/harness/tree.ts";
import { createLog, type Log } from "../../base/log/log.ts";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import type { Disk } from "../disk/disk.ts";
import { openDisk } from "../disk/disk.ts";
import type { MutationListener, Requester } from "../disk/mutation.ts";
import type { EntryVersion, StagedFile, Step } from "../disk/steps.ts";
import { revisionOfBytes } from "../files/revision.ts";
import type { BackendName, Jail } from "../jail/folder.ts";
import { JailFixture } from "../jail/jail.test-kit.ts";
import { openStateFolder, type StateFolder } from "../state/state-folder.ts";
import { draftSteps } from "./draft.ts";
import { Intents } from "./intents.ts";
import { prepare } from "./prepare.ts";
import { StepRunner } from "./run-step.ts";
import { Staging } from "./stage.ts";
import { abandonedIn, createTransactions, recoverIn, type Transactions } from "./transactions.ts";

export class TransactionsFixture extends JailFixture {
  readonly jailed: Jail;
  readonly context: Disk;
  readonly state: StateFolder;
  readonly transactions: Transactions;
  readonly call: Requester = { deadline: deadlineIn(Number.POSITIVE_INFINITY), functionId: "test::call" };
  readonly lines: string[] = [];
  readonly log: Log = createLog({
    level: "debug",
    form: "text",
    write: (line) => this.lines.push(line.slice(13).trimEnd()),
  });

  constructor(
    backend: BackendName,
    tree: Tree,
    listeners: readonly MutationListener[] = [],
    { fsync = false } = {},
  ) {
    super(tree);
    this.jailed = this.jail(backend, ["**/.env", "**/*.pem", "**/secrets/**"]);
    this.state = openStateFolder({
      dir: join(this.root, "state"),
      roots: [{ name: ".", hostPath: this.base }],
    });
    this.context = openDisk({
      jail: this.jailed,
      config: { max_write_bytes: 1000, fsync },
      listeners,
      onListenerError: (error) => {
        throw error;
      },
      isAbandoned: abandonedIn(this.state),
    });
    this.transactions = createTransactions({ files: this.context, folder: this.state, log: this.log });
  }

  commit(steps: readonly Step[], label?: string) {
    return this.transactions.run(async () => ({ steps, keys: new Set<string>(), value: undefined }), {
      requester: this.call,
      label,
    });
  }

  /** Acts like a process that is killed after `count` steps. */
  async crashAfter(steps: readonly Step[], count: number, { isCommitted = false } = {}): Promise<void> {
    const intents = new Intents(this.state, this.context.config);
    const ctx = { ...this.context, intents };
    const mark = intents.newMark();
    const slice = createTimeSlice(5);
    const drafts = await draftSteps(steps, mark, slice);
    using staging = new Staging(ctx, this.call);
    const { file } = await prepare(ctx, {
      drafts,
      staging,
      requester: this.call,
      transaction: mark.id,
      slice,
    });
    const runner = new StepRunner(this.context, { mutations: this.context.mutations, requester: this.call });
    for (const draft of drafts.slice(0, count)) await runner.run(draft);
    if (isCommitted) await intents.markCommitted(file);
    intents.release(file);
  }

  recover({ readOnly = false } = {}): Promise<string[]> {
    return recoverIn({ files: this.context, folder: this.state, readOnly, log: this.log });
  }

  /** Returns all entries in the base, also temporary ones, with modes. */
  snapshot(): Snapshot {
    return new Map([...snapshotTree(this.root)].filter(([key]) => !key.startsWith("../")));
  }

  records(): string[] {
    const folder = this.state.find("intents");
    return folder === undefined || !existsSync(folder)
      ? []
      : readdirSync(folder).map((name) => name.replace(/^[0-9a-f]{16}/, ""));
  }

  version(path: string): EntryVersion {
    const stats = lstatSync(this.at(path), { bigint: true });
    const { dev, ino, size, mtimeNs, ctimeNs } = stats;
    const revision = stats.isFile() ? revisionOfBytes([readFileSync(this.at(path))]) : undefined;
    return { dev, ino, size, mtimeNs, ctimeNs, revision };
  }
}

export const fileOf = (text: string, mode = 0o644): StagedFile => ({
  kind: "file",
  content: [Buffer.from(text)],
  mode,
});

/** Entries of every kind, for `everyKind`. */
export const sampleTree: Tree = {
  "a.txt": "a\n",
  "b.txt": { text: "b\n", mode: 0o600 },
  "c.txt": "c\n",
  link: { link: "a.txt" },
  "old/x.txt": "x\n",
  "old/deep/y.txt": "y\n",
  "gone/z.txt": "z\n",
  "gone/empty/": null,
  "gone/link": { link: "../a.txt" },
  "hard-1": "h\n",
  "hard-2": { hardlink: "hard-1" },
};

/** Returns steps of each kind. Some depend on others. */
export function everyKind(fixture: TransactionsFixture): Step[] {
  const expected = (path: string) => fixture.version(path);
  const [folder, inner, first, copy] = [
    { kind: "dir" },
    fileOf("new\n"),
    fileOf("a, changed\n"),
    { kind: "copy", of: { path: "old", expected: expected("old") }, requested: "old" },
  ] as const;
  const steps = [
    { kind: "place", path: "new", staged: folder },
    { kind: "place", path: "new/file.txt", staged: inner },
    { kind: "exchange", path: "a.txt", staged: first, expected: expected("a.txt") },
    { kind: "set-aside", path: "gone", expected: expected("gone") },
    { kind: "place", path: "gone", staged: fileOf("a file now\n", 0o755) },
    { kind: "place", path: "copy", staged: copy },
    { kind: "set-aside", path: "copy/x.txt", expected: { staged: copy } },
    { kind: "place", path: "copy/deep/new.txt", staged: fileOf("in the copy\n") },
    { kind: "rename", from: "old", to: "new/moved", expected: expected("old") },
    {
      kind: "exchange",
      path: "new/moved/deep/y.txt",
      staged: fileOf("moved\n"),
      expected: expected("old/deep/y.txt"),
    },
    { kind: "rename", from: "new/moved/x.txt", to: "x.txt", expected: expected("old/x.txt") },
    { kind: "chmod", path: "x.txt", mode: 0o700, expected: expected("old/x.txt") },
    { kind: "chmod", path: "b.txt", mode: 0o640, expected: expected("b.txt") },
    { kind: "exchange", path: "a.txt", staged: fileOf("again\n"), expected: { staged: first } },
    { kind: "rename", from: "new/file.txt", to: "new/other.txt", expected: { staged: inner } },
    {
      kind: "exchange",
      path: "link",
      staged: { kind: "symlink", text: Buffer.from("b.txt") },
      expected: expected("link"),
    },
    { kind: "set-aside", path: "hard-1", expected: expected("hard-1") },
    { kind: "exchange", path: "hard-2", staged: fileOf("own\n"), expected: expected("hard-2") },
    { kind: "set-aside", path: "c.txt", expected: expected("c.txt") },
    { kind: "rename", from: "b.txt", to: "c.txt", expected: expected("b.txt") },
    { kind: "rename", from: "new", to: "newer", expected: { staged: folder } },
    { kind: "place", path: "newer/link", staged: { kind: "symlink", text: Buffer.from("../gone") } },
  ] as const;
  return steps.map((step, change) => ({ ...step, change }));
}
