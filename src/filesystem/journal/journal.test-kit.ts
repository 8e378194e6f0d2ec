/** Files whose changes a journal keeps, and a tree on which they are undone at once. */

import { expect } from "bun:test";
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tree } from "../../../tests/harness/tree.ts";
import { createLog } from "../../base/log/log.ts";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import type { Requester } from "../disk/mutation.ts";
import { Mutations } from "../disk/mutations.ts";
import { commitLink } from "../disk/place.ts";
import { renameEntry } from "../disk/rename.ts";
import { FilesFixture } from "../files/files.test-kit.ts";
import { revisionOfBytes } from "../files/revision.ts";
import { mapErrno } from "../jail/errno.ts";
import type { BackendName } from "../jail/folder.ts";
import { entryIdentityOf } from "../jail/inode.ts";
import { kindOf } from "../jail/kind.ts";
import { openStateFolder } from "../state/state-folder.ts";
import { Journal } from "./journal.ts";
import { LaterRecords } from "./later-records.ts";
import { contentOf, type JournalRecord, readSegment } from "./read-record.ts";
import type { RestoredTree, TreeState } from "./restored-tree.ts";
import { listSegments } from "./segment-folder.ts";
import type { JournalBounds } from "./segments.ts";
import { type UndoOptions, type UndoOutcome, undoRecords } from "./undo-records.ts";

const generous: JournalBounds = { max_bytes: 64 * 1024 * 1024, max_records: 100_000 };

export class JournalFixture implements Disposable {
  readonly bench: FilesFixture;
  readonly journal: Journal;
  /** Host path of the folder with all state folders. */
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), "coder-state-")));
  readonly logLines: string[] = [];

  constructor(backend: BackendName, tree: Tree = {}, bounds: Partial<JournalBounds> = {}) {
    this.journal = this.openJournal(bounds);
    const config = { max_write_bytes: 1024 * 1024 * 1024, listeners: [this.journal] };
    this.bench = new FilesFixture(backend, tree, config);
  }

  /** Opens another journal in the same folder. */
  openJournal(bounds: Partial<JournalBounds> = {}): Journal {
    const log = createLog({ level: "debug", form: "text", write: (line) => this.logLines.push(line) });
    const state = openStateFolder({ dir: this.dir, roots: [{ name: ".", hostPath: "/srv/root" }] });
    return new Journal({ state, log, bounds: { ...generous, ...bounds } });
  }

  get files() {
    return this.bench.files;
  }

  /** Returns a new call, which gets its own record. */
  call(functionId = "test::call"): Requester {
    return { deadline: deadlineIn(Number.POSITIVE_INFINITY), functionId, caller: "tester" };
  }

  /** Host path of the folder that holds the segments. */
  get segments(): string {
    return join(this.journal.state.location, "segments");
  }

  /** Returns the host path of the frames of a segment, by default the first. */
  frames(first = 1): string {
    return join(this.segments, String(first).padStart(12, "0"), "frames");
  }

  /** Returns the host paths of all files in the segments. */
  keptFiles(): string[] {
    return readdirSync(this.segments, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort();
  }

  /** Returns the total bytes of all files in the segments. */
  keptBytes(): number {
    return this.keptFiles().reduce((sum, path) => sum + lstatSync(path).size, 0);
  }

  /** Records a step of a call in a journal of this folder, by default of a new call. */
  keepStep(journal: Journal, path: string, requester = this.call()): void {
    const step = { kind: "make-folder", path, entry: "dir", isTree: false } as const;
    const mutation = { ...step, requester, revisionBefore: () => undefined };
    journal.before({ ...mutation, revisionAfter: () => undefined, entries: { replaced: () => undefined } });
  }

  /** Returns the records of the journal, the newest first. */
  read(): JournalRecord[] {
    const segments = listSegments(this.journal.state).reverse();
    return segments.flatMap((segment) => runAtOnce(readSegment(this.journal, segment)).reverse());
  }

  /** Undoes records, the newest one by default, as one call. */
  async undo(
    options: Partial<Pick<UndoOptions, "records" | "selects" | "force">> = {},
  ): Promise<UndoOutcome> {
    const outcome = await undoRecords({
      later: await LaterRecords.of([], { after: 0, isShown: () => true, pause: async () => {} }),
      tree: new ImmediateTree(this.bench, this.call("coder::undo"), this.journal),
      records: options.records ?? this.read().slice(0, 1),
      selects: options.selects ?? (() => true),
      force: options.force ?? false,
      content: (step, kept) => contentOf(this.journal, step, kept, async () => {}),
      pause: async () => {},
    });
    expect(this.bench.listenerErrors).toEqual([]);
    return outcome;
  }

  [Symbol.dispose](): void {
    this.journal.close();
    this.bench[Symbol.dispose]();
    rmSync(this.dir, { recursive: true });
  }
}

/** Carries each change out when it comes. */
class ImmediateTree implements RestoredTree {
  readonly #bench: FilesFixture;
  readonly #call: Requester;
  readonly #mutations: Mutations;

  constructor(bench: FilesFixture, call: Requester, journal: Journal) {
    this.#bench = bench;
    this.#call = call;
    this.#mutations = new Mutations([journal]);
  }

  state(path: string): TreeState {
    // Through the jail, for its refusals.
    this.#bench.jailed.admit(path, { lastLink: "bare", mayBeMissing: true, parents: true })[Symbol.dispose]();
    const at = this.#bench.at(path);
    const stats = lstatSync(at, { throwIfNoEntry: false });
    if (stats === undefined) return { kind: "absent" };
    const kind = kindOf(stats)!;
    const mode = stats.mode & 0o7777;
    const identity = entryIdentityOf(lstatSync(at, { bigint: true }));
    if (kind === "file") return { kind, mode, revision: revisionOfBytes([readFileSync(at)]), identity };
    if (kind === "symlink") return { kind, text: readlinkSync(at, "buffer") };
    return kind === "dir" ? { kind, mode } : { kind: "other", identity };
  }

  stateInSlices(path: string): TreeState {
    return this.state(path);
  }

  /** Fixtures lie where names differ by their spelling. */
  linkAbove(): undefined {
    return undefined;
  }

  nonFolderAbove(): undefined {
    return undefined;
  }

  entryIn(): undefined {
    return undefined;
  }

  isRespelling(): boolean {
    return false;
  }

  async putFile(path: string, content: Buffer, { mode }: { readonly mode: number }): Promise<void> {
    // Neither does `create` write through a link, nor over a file that may not be written.
    if (this.state(path).kind !== "absent") await this.remove(path);
    const options = { mode, overwrite: true, parents: false };
    await this.#bench.files.create(path, content, options, this.#call);
    await this.setMode(path, mode);
  }

  async putLink(path: string, text: Buffer): Promise<void> {
    using place = this.#bench.jailed.admit(path, { lastLink: "bare", mayBeMissing: true });
    const { folder, name, stats } = place;
    const isReplacing = stats !== undefined;
    const target = isReplacing ? { isReplacing } : { isReplacing, exclusive: path };
    const scope = { mutations: this.#mutations, requester: this.#call };
    commitLink(scope, text, { folder, name, ...target });
  }

  async makeFolder(path: string, mode: number): Promise<void> {
    await this.#bench.files.makeFolder(path, { mode, parents: false }, this.#call);
  }

  inRemade(): RestoredTree {
    return this;
  }

  async remove(path: string): Promise<void> {
    await this.#bench.files.unlink(path, { recursive: false }, this.#call);
  }

  async move(from: string, to: string): Promise<void> {
    // A link that leads outside from where it was moved to has to go back all the same.
    using source = this.#bench.jailed.admit(from, { changes: "tree", lastLink: "bare" });
    using target = this.#bench.jailed.admit(to, { changes: "tree", lastLink: "bare", mayBeMissing: true });
    const scope = { mutations: this.#mutations, requester: this.#call };
    mapErrno(from, () => renameEntry(scope, { source, target, exclusive: to }));
  }

  async setMode(path: string, mode: number): Promise<void> {
    const options = { mode, uid: undefined, gid: undefined, recursive: false };
    await this.#bench.files.changeMode(path, options, this.#call);
  }
}

/** Returns the iterations of the event loop during the work, if each slice ends soon. */
export async function loopIterationsDuring(work: () => Promise<unknown>): Promise<number> {
  const { now } = performance;
  let time = 0;
  // Each reading of the clock takes a millisecond, and a slice has two.
  performance.now = () => time++;
  let iterations = 0;
  const iterate = () => {
    iterations++;
    timer = setImmediate(iterate);
  };
  let timer = setImmediate(iterate);
  try {
    await work();
  } finally {
    performance.now = now;
    clearImmediate(timer);
  }
  return iterations;
}
