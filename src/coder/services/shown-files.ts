import { type Author, authorId } from "../../base/author.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { Mutation, MutationListener, MutationOutcome } from "../../filesystem/disk/mutation.ts";
import { revisionIfSmall } from "../../filesystem/feed/call-changes.ts";
import type { WindowRange } from "../../text/edits/window.ts";

/** A file as answers have shown it: its whole content, or a line that a search has found. */
export interface ShownFile {
  readonly revision?: string;
  readonly line?: ShownLine;
  /** The number of the newest change in the feed at that time. */
  readonly position: number;
  /** The lines that were shown since, of another content. */
  readonly later?: ShownLines;
}

/** A line, and the characters it begins with. */
export interface ShownLine {
  readonly number: number;
  readonly start: string;
}

export interface ShownLines {
  readonly revision: string;
  readonly ranges: readonly WindowRange[];
}

/** Maximum number of files that are remembered, of all authors together. */
const maxShown = 16_384;

/** The share of that number at which the files beyond it are forgotten. */
const maxOverflow = 9 / 8;

/** Maximum ranges that are remembered of a file. An author who has seen more counts as knowing all lines. */
const maxRanges = 32;

/** Found lines that are noted in one step. */
const linesPerStep = 512;

/** Maximum characters that are remembered of a line. */
const maxLineStart = 64;

/**
 * The files that calls last showed to their authors, or wrote for them, so that an edit by line numbers can
 * say that the file has changed since. An edit of any other file gets no note, because its line numbers may
 * come from a command that has just printed them.
 */
export class ShownFiles implements MutationListener {
  readonly #position: () => number;
  readonly #max: number;
  /** The files by author and path, those shown last at the end. */
  readonly #files = new Map<string, ShownFile>();
  /** The paths that the steps of unfinished transactions have written. */
  readonly #inTransactions = new WeakMap<Mutation, string[]>();

  /** `position` returns the number of the newest change in the feed. */
  constructor(position: () => number, max = maxShown) {
    this.#position = position;
    this.#max = max;
  }

  /** Notes the revision that an author knows; `undefined` if that is unknown now. */
  note(author: Author | undefined, path: string, revision: string | undefined): void {
    this.#set(author, path, revision === undefined ? undefined : { revision, position: this.#position() });
  }

  /**
   * Notes that an author was shown lines of a file. The others stay those of the content shown before, if
   * any.
   */
  noteLines(author: Author | undefined, path: string, { revision, ranges: added }: ShownLines): void {
    const shown = this.at(author, path);
    const earlier = shown?.later?.revision === revision ? shown.later.ranges : [];
    const ranges = [...earlier, ...added];
    if (shown === undefined || shown.revision === revision || ranges.length > maxRanges)
      this.note(author, path, revision);
    else this.#set(author, path, { ...shown, later: { revision, ranges } });
  }

  /**
   * Notes the lines that a search found, of each file the last one, which moves with any line before it. The
   * lines of a file are consecutive. The author then counts as knowing the whole file, or nothing of it if
   * the lines cannot be compared.
   */
  *noteFound(
    author: Author | undefined,
    lines: readonly FoundLine[],
    { areComparable = true } = {},
  ): Steps<void> {
    const position = this.#position();
    const found: { readonly path: string; readonly line: ShownLine | undefined }[] = [];
    // The earlier files would only be forgotten again for the last ones.
    for (let index = lines.length - 1, remembered = 0; index >= 0 && remembered < this.#max; index--) {
      if (index % linesPerStep === 0) yield;
      const { path, line: number, text } = lines[index]!;
      if (found.at(-1)?.path === path) continue;
      const start = areComparable ? startOf(text) : undefined;
      if (start !== undefined) remembered++;
      found.push({ path, line: start === undefined ? undefined : { number, start } });
    }
    for (let index = found.length - 1; index >= 0; index--) {
      if (index % linesPerStep === 0) yield;
      const { path, line } = found[index]!;
      this.#set(author, path, line && { line, position });
    }
  }

  #set(author: Author | undefined, path: string, shown: ShownFile | undefined): void {
    const key = keyOf(author, path);
    if (key === undefined) return;
    this.#files.delete(key);
    if (shown === undefined) return;
    this.#files.set(key, shown);
    // Finding the oldest passes all keys that were deleted before it, so those beyond are forgotten together.
    if (this.#files.size <= this.#max * maxOverflow) return;
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
      for (const one of written) this.#set(author, one, undefined);
    }
    if (outcome !== "done" || keyOf(author, path) === undefined) return;
    if (kind === "make-folder" || kind === "change-mode") return;
    if (entry === "dir") this.#forgetBelow(author, from === undefined ? [path] : [path, from]);
    else if (kind === "rename") {
      const moved = this.at(author, from!);
      this.#set(author, from!, undefined);
      this.#set(author, path, moved);
    } else if (kind === "create" || kind === "replace")
      this.note(author, path, entry === "file" ? revisionIfSmall(mutation) : undefined);
    else this.note(author, path, undefined);
    if (whole?.kind === "transaction") this.#noteStep(whole, from === undefined ? [path] : [path, from]);
  }

  #noteStep(whole: Mutation, paths: readonly string[]): void {
    const written = this.#inTransactions.get(whole) ?? [];
    this.#inTransactions.set(whole, written);
    for (const path of paths) written.push(path);
  }

  #forgetBelow(author: Author | undefined, folders: readonly string[]): void {
    const starts = folders.map((folder) => keyOf(author, `${folder}/`)!);
    for (const key of this.#files.keys())
      if (starts.some((start) => key.startsWith(start))) this.#files.delete(key);
  }
}

/** A line that a search found, as its answer has it. */
interface FoundLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** Returns the beginning of a line as an answer shows it, or `undefined` if the answer shows another part. */
function startOf(text: string): string | undefined {
  const [line = ""] = text.slice(0, maxLineStart).split(/[\r\n]/, 1);
  if (line.startsWith("…")) return undefined;
  // The copy does not keep the whole line in memory.
  return Buffer.from(line.replace(/[…\ud800-\udbff]$/, "")).toString();
}

/**
 * Returns the key of a path for an author, with a NUL as separator, which no path contains; `undefined` if
 * nothing distinguishes the author from others.
 */
function keyOf(author: Author | undefined, path: string): string | undefined {
  const id = authorId(author);
  return id === undefined ? undefined : `${id}\0${path}`;
}
