/** An earlier state of the tree, made in memory by undoing records over the tree on disk. */
import { revisionOfBytes } from "../files/revision.ts";
import type { RestoredTree, TreeState } from "./restored-tree.ts";

/** Reads the tree on disk by paths from the base, without following links. */
export interface CurrentTree {
  /** Returns the state of a path, for a file too large to hash at once with an empty revision. */
  state(path: string): TreeState;
  /** Returns the state of a path, after hashing a large file in slices. */
  stateInSlices(path: string): TreeState | Promise<TreeState>;
  read(path: string): ReadContent;
}

/** The content of a file; `undefined` if it cannot be read. */
export type ReadContent = Buffer | "too-large" | undefined;

/** An entry of the earlier tree. */
export type RewoundEntry = {
  /** The path of the same entry on disk, if it still exists. */
  readonly now: string | undefined;
  /** The numbers of the records that changed it or gave it this name. */
  readonly seqs: readonly number[];
} & (
  | { readonly kind: "absent" }
  /** The entry itself is on disk, perhaps with another mode. */
  | { readonly kind: "disk"; readonly mode?: number | undefined }
  | { readonly kind: "file"; readonly content: Buffer; readonly mode: number }
  | { readonly kind: "symlink"; readonly text: Buffer }
  | { readonly kind: "dir"; readonly mode: number }
);

export class RewoundTree implements RestoredTree {
  readonly #disk: CurrentTree;
  /** The entries that differ from those of the same path on disk, by their earlier paths. */
  readonly #entries = new Map<string, RewoundEntry>();
  readonly #created = new Map<string, readonly number[]>();
  readonly #unknown = new Set<string>();
  /** The number of the record that is being undone. */
  seq = 0;

  constructor(disk: CurrentTree) {
    this.#disk = disk;
  }

  /** The entries that differ from those of the same path on disk, by their earlier paths. */
  get entries(): ReadonlyMap<string, RewoundEntry> {
    return this.#entries;
  }

  /** The paths on disk of entries that did not exist, with the records that made them. */
  get created(): ReadonlyMap<string, readonly number[]> {
    return this.#created;
  }

  /** Returns whether the earlier state of a path is not kept. */
  isUnknown(path: string): boolean {
    return this.#unknown.has(path);
  }

  /** Notes a path whose earlier state is not kept. */
  lose(path: string): void {
    this.#unknown.add(path);
    if (!this.#entries.has(path)) this.#set(path, this.entryAt(path));
  }

  /** Returns the entry of an earlier path. */
  entryAt(path: string): RewoundEntry {
    const own = this.#entries.get(path);
    if (own !== undefined) return own;
    for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
      const above = this.#entries.get(path.slice(0, slash));
      if (above === undefined) continue;
      if (above.kind !== "disk") return { kind: "absent", now: undefined, seqs: [] };
      return { kind: "disk", now: `${above.now}${path.slice(slash)}`, seqs: [] };
    }
    return { kind: "disk", now: path, seqs: [] };
  }

  state(path: string): TreeState {
    const entry = this.entryAt(path);
    switch (entry.kind) {
      case "absent":
        return { kind: "absent" };
      case "disk":
        return withMode(this.#disk.state(entry.now!), entry.mode);
      case "file":
        return { kind: "file", mode: entry.mode, revision: revisionOfBytes([entry.content]) };
      case "symlink":
        return { kind: "symlink", text: entry.text };
      case "dir":
        return { kind: "dir", mode: entry.mode };
    }
  }

  async stateInSlices(path: string): Promise<TreeState> {
    const entry = this.entryAt(path);
    if (entry.kind !== "disk") return this.state(path);
    return withMode(await this.#disk.stateInSlices(entry.now!), entry.mode);
  }

  /** Returns the content of an earlier file. */
  contentAt(path: string): ReadContent {
    const entry = this.entryAt(path);
    if (entry.kind === "file") return entry.content;
    return entry.kind === "disk" ? this.#disk.read(entry.now!) : undefined;
  }

  isRespelling(): boolean {
    return false;
  }

  async putFile(path: string, content: Buffer, mode: number): Promise<void> {
    this.#put(path, { kind: "file", content, mode });
  }

  async putLink(path: string, text: Buffer): Promise<void> {
    this.#put(path, { kind: "symlink", text });
  }

  async makeFolder(path: string, mode: number): Promise<void> {
    this.#put(path, { kind: "dir", mode });
  }

  inRemade(): RestoredTree {
    return this;
  }

  async remove(path: string): Promise<void> {
    const entry = this.entryAt(path);
    const seqs = this.#add(entry.seqs);
    if (entry.now !== undefined && this.#disk.state(entry.now).kind !== "absent")
      this.#created.set(entry.now, seqs);
    for (const below of [...this.#entries.keys()])
      if (below.startsWith(`${path}/`)) this.#entries.delete(below);
    this.#set(path, { kind: "absent", now: undefined, seqs });
    this.#unknown.delete(path);
  }

  async move(from: string, to: string): Promise<void> {
    const entry = this.entryAt(from);
    const below = [...this.#entries].filter(([path]) => path.startsWith(`${from}/`));
    for (const [path] of below) this.#entries.delete(path);
    this.#set(to, { ...entry, seqs: this.#add(entry.seqs) });
    for (const [path, inside] of below) this.#set(`${to}${path.slice(from.length)}`, inside);
    this.#set(from, { kind: "absent", now: undefined, seqs: this.#add([]) });
    for (const path of [...this.#unknown]) {
      if (path !== from && !path.startsWith(`${from}/`)) continue;
      this.#unknown.delete(path);
      this.#unknown.add(`${to}${path.slice(from.length)}`);
    }
  }

  async setMode(path: string, mode: number): Promise<void> {
    const entry = this.entryAt(path);
    const seqs = this.#add(entry.seqs);
    if (entry.kind === "absent" || entry.kind === "symlink") return;
    this.#set(path, { ...entry, mode, seqs });
  }

  /** Replaces the entry at a path. If that still exists, the new one is an earlier state of it. */
  #put(
    path: string,
    entry:
      | { readonly kind: "file"; readonly content: Buffer; readonly mode: number }
      | { readonly kind: "symlink"; readonly text: Buffer }
      | { readonly kind: "dir"; readonly mode: number },
  ): void {
    const { seqs, now } = this.entryAt(path);
    const isThere = now !== undefined && this.#disk.state(now).kind !== "absent";
    this.#set(path, { ...entry, now: isThere ? now : undefined, seqs: this.#add(seqs) });
    this.#unknown.delete(path);
  }

  #add(seqs: readonly number[]): readonly number[] {
    return seqs.includes(this.seq) ? seqs : [...seqs, this.seq];
  }

  #set(path: string, entry: RewoundEntry): void {
    this.#entries.set(path, entry);
  }
}

const withMode = (state: TreeState, mode: number | undefined): TreeState =>
  mode !== undefined && (state.kind === "file" || state.kind === "dir") ? { ...state, mode } : state;
