import { type Author, authorId } from "../../base/author.ts";
import type { Mutation, MutationListener, MutationOutcome } from "../../filesystem/disk/mutation.ts";
import { revisionIfSmall } from "../../filesystem/feed/call-changes.ts";

/** A file as an answer showed it last. */
interface ShownFile {
  readonly revision: string;
  /** The number of the newest change in the feed at that time. */
  readonly position: number;
}

/** Maximum number of files that are remembered, of all authors together. */
const maxShown = 16_384;

/**
 * The revisions of files that calls last showed to their authors, or wrote for them, so that an edit by line
 * numbers can say that the file has changed since. An edit of any other file gets no note.
 */
export class ShownFiles implements MutationListener {
  readonly #position: () => number;
  readonly #max: number;
  /** The files by author and path, those shown last at the end. */
  readonly #files = new Map<string, ShownFile>();
  /** The files that the steps of unfinished transactions have written. */
  readonly #inTransactions = new WeakMap<Mutation, string[]>();

  /** `position` returns the number of the newest change in the feed. */
  constructor(position: () => number, max = maxShown) {
    this.#position = position;
    this.#max = max;
  }

  /** Notes the revision that an author knows; `undefined` if that is unknown now. */
  note(author: Author | undefined, path: string, revision: string | undefined): void {
    const key = keyOf(author, path);
    if (key === undefined) return;
    this.#files.delete(key);
    if (revision === undefined) return;
    this.#files.set(key, { revision, position: this.#position() });
    for (const oldest of this.#files.keys()) {
      if (this.#files.size <= this.#max) break;
      this.#files.delete(oldest);
    }
  }

  /** Returns the file as the author last saw it, if that is known. */
  at(author: Author | undefined, path: string): ShownFile | undefined {
    const key = keyOf(author, path);
    return key === undefined ? undefined : this.#files.get(key);
  }

  after(mutation: Mutation, outcome: MutationOutcome): void {
    const { kind, requester, whole, path, from, entry } = mutation;
    const author = requester?.author;
    if (kind === "transaction") {
      // The steps of a transaction that failed have been reverted.
      const written = outcome === "failed" ? (this.#inTransactions.get(mutation) ?? []) : [];
      for (const key of written) this.#files.delete(key);
    }
    if (outcome !== "done" || keyOf(author, path) === undefined) return;
    if (kind === "make-folder" || kind === "change-mode") return;
    if (entry === "dir") this.#forgetBelow(author, from === undefined ? [path] : [path, from]);
    else if (kind === "rename") {
      const moved = this.at(author, from!);
      this.note(author, from!, undefined);
      this.note(author, path, moved?.revision);
    } else if (kind === "create" || kind === "replace")
      this.note(author, path, entry === "file" ? revisionIfSmall(mutation) : undefined);
    else this.note(author, path, undefined);
    if (whole !== undefined) this.#noteStep(whole, author, [path, from ?? path]);
  }

  #noteStep(whole: Mutation, author: Author | undefined, paths: readonly string[]): void {
    const keys = this.#inTransactions.get(whole) ?? [];
    this.#inTransactions.set(whole, keys);
    for (const path of paths) keys.push(keyOf(author, path)!);
  }

  #forgetBelow(author: Author | undefined, folders: readonly string[]): void {
    const starts = folders.map((folder) => keyOf(author, `${folder}/`)!);
    for (const key of this.#files.keys())
      if (starts.some((start) => key.startsWith(start))) this.#files.delete(key);
  }
}

/**
 * Returns the key of a path for an author, with a NUL as separator, which no path contains; `undefined` if
 * nothing distinguishes the author from others.
 */
function keyOf(author: Author | undefined, path: string): string | undefined {
  const id = authorId(author);
  return id === undefined ? undefined : `${id}\0${path}`;
}
