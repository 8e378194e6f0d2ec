import { isUtf8 } from "node:buffer";
import { Refusal, refuse } from "../../base/errors.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { holdForDeferredClose } from "../disk/deferred-close.ts";
import type { Metadata } from "../disk/metadata.ts";
import type { Requester } from "../disk/mutation.ts";
import { ancestorsOf } from "../jail/backend.ts";
import { refusalOfErrno } from "../jail/errno.ts";
import type { Jail, ResolvedPath } from "../jail/folder.ts";
import { admitPermitted } from "../operations/change-mode.ts";
import { fileOfRevision } from "../operations/expected-revision.ts";
import { metadataToKeep } from "../operations/kept-metadata.ts";
import { requireMovable, requireWritableEnds } from "../operations/move.ts";
import { requireEmpty } from "../operations/remove.ts";
import { requireWritableFolder } from "../operations/require-writable.ts";
import { relationOf } from "../operations/same-entry.ts";
import type { EntryState, PlannedTree } from "./planned-tree.ts";

/**
 * Changes a planned tree by the paths of entries themselves, for an undo alone: a link is never followed as
 * the last name, wherever it leads, and a file is replaced even if it is not writable. The commit fails if a
 * replaced or removed file differs from the state that was read. Set-id bits return only with the owner that
 * they are for, since the program would get the rights of any other.
 */
export class Restoration {
  readonly #tree: PlannedTree;
  readonly #requester: Requester;
  /** The revisions of the files whose states were read. */
  readonly #revisions: Map<string, string>;
  /** The links that lead to the folders of paths, if any do. */
  readonly #links = new Map<string, string | undefined>();
  /** The resolved path of a folder that is restored with all its entries. */
  readonly #remade: string | undefined;

  constructor(tree: PlannedTree, requester: Requester, within?: Within) {
    this.#tree = tree;
    this.#requester = requester;
    this.#revisions = within?.revisions ?? new Map();
    this.#remade = within?.remade;
  }

  inRemade(path: string): Restoration {
    using place = this.#tree.jail.admit(path, asRecorded);
    // A link on the way would lead to another place.
    const isItself = place.path === path && this.#tree.jail.mayGoWhole(place);
    const remade = isItself ? path : undefined;
    return new Restoration(this.#tree, this.#requester, { revisions: this.#revisions, remade });
  }

  /** Returns the state of a path. Throws the jail's refusals, and io for a file that cannot be read. */
  state(path: string): RestoredState {
    if (this.linkAbove(path) !== undefined) return { kind: "absent" };
    return absentBelowFile(() => this.#noted(path, this.#tree.state(path)));
  }

  /** Like `state`, but hashes a large file in slices, unless it has the identity `unhashed`. */
  stateInSlices(path: string, unhashed?: string): RestoredState | Promise<RestoredState> {
    if (this.linkAbove(path) !== undefined) return { kind: "absent" };
    return absentBelowFile(() => {
      const state = this.#tree.stateInSlices(path, unhashed);
      return state instanceof Promise
        ? state.then((found) => this.#noted(path, found))
        : this.#noted(path, state);
    });
  }

  #noted(path: string, state: EntryState): RestoredState {
    if (state.kind !== "file") return state;
    const { revision = "" } = state;
    this.#revisions.set(path, revision);
    return { ...state, revision };
  }

  linkAbove(path: string): string | undefined {
    const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    if (folder === "") return undefined;
    if (!this.#links.has(folder)) this.#links.set(folder, this.#findLink(folder));
    return this.#links.get(folder);
  }

  /** Returns the first link among a folder and those above it. */
  #findLink(folder: string): string | undefined {
    if (this.#isReachedPlainly(folder)) return undefined;
    const paths = [...ancestorsOf(folder), folder];
    // The first `plain` of them are folders that no link leads to.
    let [plain, others] = [0, paths.length - 1];
    while (plain < others) {
      const middle = Math.floor((plain + others) / 2);
      if (this.#isReachedPlainly(paths[middle]!)) plain = middle + 1;
      else others = middle;
    }
    for (const path of paths.slice(plain)) {
      const kind = this.#kindOf(path);
      if (kind === "symlink") return path;
      // It may be a folder whose name is spelled otherwise.
      if (kind !== "dir") return undefined;
    }
    return undefined;
  }

  /** Returns whether a folder is at a path, and none of the names in it is a link. */
  #isReachedPlainly(path: string): boolean {
    try {
      using place = this.#tree.jail.admit(path, asRecorded);
      return place.path === path && place.stats?.isDirectory() === true;
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  }

  #kindOf(path: string): EntryState["kind"] | undefined {
    try {
      return this.#tree.state(path).kind;
    } catch (error) {
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  }

  /** Throws a refusal for a path that a link leads to another place. */
  #requireNoLink(path: string): void {
    const link = this.linkAbove(path);
    if (link !== undefined) throw refuse.notAFolder(link);
  }

  nonFolderAbove(path: string): { readonly path: string; readonly state: RestoredState } | undefined {
    if (this.#isReachedPlainly(path.slice(0, Math.max(0, path.lastIndexOf("/"))))) return undefined;
    for (const above of ancestorsOf(path)) {
      const state = this.state(above);
      if (state.kind !== "dir") return { path: above, state };
    }
    return undefined;
  }

  entryIn(path: string): string | undefined {
    const { jail } = this.#tree;
    try {
      using folder = jail.admitFolder(path);
      let found: string | undefined;
      const listing = folder.list((bytes, from, to) => {
        const name = bytes.subarray(from, to);
        if (found !== undefined || !isUtf8(name)) return;
        const text = name.toString();
        if (!jail.isTemporary(text) && !jail.deniesIn(folder, text)) found = `${path}/${text}`;
      });
      for (const _ of listing) if (found !== undefined) break;
      return found;
    } catch (error) {
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  }

  isRespelling(path: string, other: string): boolean {
    const asName = { ...asRecorded, mayBeMissing: true, parents: true } as const;
    try {
      using source = this.#tree.jail.admit(path, asName);
      using target = this.#tree.jail.admit(other, asName);
      return source.stats !== undefined && runAtOnce(relationOf({ source, target })) === "respelled";
    } catch (error) {
      const refusal = refusalOfErrno(error, path);
      // Nothing is below a file.
      if (refusal.isBelowFile) return false;
      throw refusal;
    }
  }

  async putFile(path: string, content: Buffer, metadata: Pick<Metadata, "mode" | "owner">): Promise<void> {
    await refusing(path, async () => {
      using place = this.#admitName(path);
      const { stats } = place;
      const { owner } = metadata;
      const mode = owner === undefined ? metadata.mode & 0o1777 : metadata.mode;
      const file = { kind: "file", content: [content], mode, ...(owner && { owner }) } as const;
      if (stats === undefined) {
        await this.#tree.place({ place, made: file }, this.#requester);
        return;
      }
      using held = stats.isFile() ? holdForDeferredClose(place) : undefined;
      const kept = stats.isFile() ? metadataToKeep(place, held) : {};
      await this.#replace(place, { ...kept, ...file });
    });
  }

  async putLink(path: string, text: Buffer): Promise<void> {
    this.#links.clear();
    await refusing(path, async () => {
      using place = this.#admitName(path);
      const made = { kind: "symlink", text } as const;
      if (place.stats === undefined) await this.#tree.place({ place, made }, this.#requester);
      else await this.#replace(place, made);
    });
  }

  async makeFolder(path: string, mode: number): Promise<void> {
    this.#links.clear();
    await refusing(path, async () => {
      using place = this.#admitName(path);
      if (place.stats !== undefined) throw refuse.exists(path);
      await this.#tree.place({ place, made: { kind: "dir", mode } }, this.#requester);
    });
  }

  async remove(path: string): Promise<void> {
    await refusing(path, async () => {
      this.#requireNoLink(path);
      this.#links.clear();
      using place = this.#tree.jail.admit(path, { ...asRecorded, changes: "tree" });
      if (place.stats!.isDirectory()) requireEmpty(this.#tree, path, place);
      requireWritableFolder(place.folder, path);
      const expectedRevision = place.stats!.isFile() ? this.#seen(path) : undefined;
      await this.#tree.setAside({ place, expectedRevision }, this.#requester);
    });
  }

  async move(from: string, to: string): Promise<void> {
    const moving = { from, to, overwrite: false, parents: false, isRecorded: true };
    const options = { ...asRecorded, changes: "tree" } as const;
    await refusing(from, async () => {
      for (const end of [from, to]) this.#requireNoLink(end);
      this.#links.clear();
      using source = this.#tree.jail.admit(from, options);
      using target = this.#tree.jail.admit(to, { ...options, mayBeMissing: true, mayBeFolder: true });
      const ends = { source, target };
      const relation = await requireMovable(this.#tree, moving, { ...ends, requester: this.#requester });
      if (target.stats !== undefined && relation !== "respelled") throw refuse.exists(to);
      requireWritableEnds(moving, ends);
      if (relation !== "same")
        await this.#tree.rename({ ...ends, relation, overwrite: false }, this.#requester);
    });
  }

  async setMode(path: string, mode: number): Promise<void> {
    await refusing(path, async () => {
      this.#requireNoLink(path);
      const { jail } = this.#tree;
      const remade = this.#remade;
      const admit: Jail["admit"] = (one, options) =>
        jail.admit(one, { ...options, isRecorded: true, remade });
      using place = admitPermitted({ ...jail, admit }, { path, recursive: false });
      const { stats } = place;
      const setIds = stats?.isFile() ? stats.mode & 0o6000 : 0o6000;
      const permitted = mode & (0o1777 | setIds);
      const kept = { uid: undefined, gid: undefined, recursive: false } as const;
      await this.#tree.setPermissions({ place, mode: permitted, ...kept }, this.#requester);
    });
  }

  /** Admits the path of a file or link to be created or replaced. */
  #admitName(path: string): ResolvedPath {
    this.#requireNoLink(path);
    const remade = this.#remade;
    const options = { ...asRecorded, changes: "entry", mayBeMissing: true, remade } as const;
    const place = this.#tree.jail.admit(path, options);
    try {
      if (place.stats?.isDirectory()) throw refuse.isAFolder(path);
      requireWritableFolder(place.folder, path);
      return place;
    } catch (error) {
      place[Symbol.dispose]();
      throw error;
    }
  }

  async #replace(place: ResolvedPath, made: Parameters<PlannedTree["exchange"]>[0]["made"]): Promise<void> {
    const path = place.requested;
    const expected = this.#seen(path);
    const replaced = expected === undefined ? undefined : fileOfRevision({ path, expected });
    await this.#tree.exchange({ place, made, expected: replaced }, this.#requester);
  }

  #seen(path: string): string | undefined {
    return this.#revisions.get(path) || undefined;
  }
}

/** Returns the result of reading a state: that nothing is there if the path leads through a file. */
function absentBelowFile<State>(read: () => State): State | { readonly kind: "absent" } {
  try {
    return read();
  } catch (error) {
    if (error instanceof Refusal && error.isBelowFile) return { kind: "absent" };
    throw error;
  }
}

/** The admission of the path of an entry itself, as the journal has it. */
const asRecorded = { lastLink: "bare", isRecorded: true } as const;

interface Within {
  readonly revisions: Map<string, string>;
  readonly remade: string | undefined;
}

type RestoredState = Exclude<EntryState, { kind: "file" }> | (EntryState & FileState);

interface FileState {
  readonly kind: "file";
  readonly revision: string;
}

async function refusing(path: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    throw refusalOfErrno(error, path);
  }
}
