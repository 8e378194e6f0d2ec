import { type Deadline, deadlineIn } from "../../base/scheduling/deadline.ts";
import type { Batch } from "../batches/batches.ts";
import type { UnmatchedGlob } from "../ignore/path-globs.ts";
import { laterPlace, type Place, type Position } from "../place.ts";
import type { FileLimit, NotSearched, PageFields, PageRequest, StoppedBy } from "../request.ts";
import { type FirstLeftOut, type PassedOver, Tally } from "../walk/tally.ts";

/** The paths of files, relative to the start of the walk. */
type WalkedPaths = Pick<Batch, "walkedPathOf">;

/** The last match in the page. */
interface LastMatch {
  readonly batch: WalkedPaths;
  readonly index: number;
  readonly position: Position;
}

/** The counts of a walk for ranked paths. */
interface RankedCounts {
  readonly files: number;
  readonly unreadable: number;
  readonly passedOver: PassedOver;
  readonly firstLeftOut: FirstLeftOut;
}

/** The entries that a walk passed over before it ended or stopped. */
interface PassedWalk extends Pick<RankedCounts, "passedOver" | "firstLeftOut"> {
  readonly unmatchedGlobs: readonly UnmatchedGlob[];
}

/** One page of the results: starts at a place, and knows where the next page starts. */
export class ResultPage {
  /** The place after which the file matches of this page start. */
  readonly after: Place | undefined;
  /** The start of the next page, unless this page gets another match. */
  #start: Place;
  readonly #seal: PageRequest["seal"];
  readonly #namesLeftOut: boolean;
  readonly #fileLimit: FileLimit | undefined;
  readonly #isFirst: boolean;
  readonly #deadline: Deadline | undefined;
  readonly #tally = new Tally();
  readonly #unreadableFolders: string[] = [];
  /** The roots that were not served at the start or at the end of the search. */
  readonly #goneRoots = new Set<string>();
  #last: LastMatch | undefined;
  #hasProgress = false;
  #passedOver: PassedOver | undefined;
  #firstLeftOut: FirstLeftOut | undefined;

  /** Creates a page for a call with `millisecondsLeft` before its deadline. */
  constructor(
    { after, seal, milliseconds, namesLeftOut = false, fileLimit }: PageRequest,
    millisecondsLeft: number,
    start: Place = laterPlace("", undefined),
  ) {
    this.after = after?.rank === undefined ? after : undefined;
    this.#start = after ?? start;
    this.#seal = seal;
    this.#namesLeftOut = namesLeftOut;
    this.#fileLimit = fileLimit;
    this.#isFirst = after === undefined;
    this.#deadline =
      milliseconds === undefined ? undefined : deadlineIn(Math.min(milliseconds, millisecondsLeft));
  }

  /**
   * Returns whether the page has to end early. It never does before the next page would start at a later
   * place.
   */
  get isOver(): boolean {
    return this.#hasProgress && this.#deadline?.left === 0;
  }

  /**
   * Returns the milliseconds available for preparation, half of those left, or `undefined` if there is no
   * limit.
   */
  get preparationMilliseconds(): number | undefined {
    return this.#deadline && this.#deadline.left / 2;
  }

  /** Returns a signal that aborts when the time is up. */
  get signal(): AbortSignal | undefined {
    return this.#deadline?.signal;
  }

  /** Frees the timer of the deadline, if any. */
  end(): void {
    this.#deadline?.end();
  }

  /** Notes that the next page would start at a later place than this one. */
  makeProgress(): void {
    this.#hasProgress = true;
  }

  /** Notes progress if the walk, which has found no file since, has passed the start of the page. */
  makeProgressTo(walked: string | undefined): void {
    if (walked === undefined || walked > (this.after?.file ?? "")) this.#hasProgress = true;
  }

  /**
   * Returns the position where earlier pages end, if that is in the first file of the batch.
   */
  afterIn(batch: Batch): Position | undefined {
    return !batch.isEmpty && batch.walkedPathOf(0) === this.after?.file ? this.after : undefined;
  }

  /** Counts the first `count` files of a batch. The last of them may be searched only in part. */
  count(batch: Float64Array, count: number, isLastWhole: boolean): void {
    this.#tally.add(batch, count, isLastWhole);
  }

  /** Counts a file whose path alone was searched. */
  countPath(): void {
    this.#tally.searched.files++;
  }

  /** Counts files that could not be searched. */
  countLost(files: number): void {
    this.#tally.skipped.unreadable += files;
  }

  countUnreadableFolder(walked: string): void {
    this.#unreadableFolders.push(walked);
  }

  noteGoneRoots(names: readonly string[]): void {
    for (const name of names) this.#goneRoots.add(name);
  }

  /** Notes the entries that the walk had passed over before the file that ends the page. */
  notePassedOver(passedOver: PassedOver): void {
    this.#passedOver ??= passedOver;
  }

  /** Notes the last ranked path in the page. */
  noteRanked(place: Place): void {
    this.#start = place;
  }

  /** Notes that this page and earlier ones hold all ranked paths. */
  endRanked(): void {
    this.#start = laterPlace("", this.after);
    this.#hasProgress = true;
  }

  /** Counts a walk for ranked paths, in a page that has nothing else. */
  countRanked({ files, unreadable, passedOver, firstLeftOut }: RankedCounts): void {
    this.#tally.searched.files += files;
    this.#tally.skipped.unreadable += unreadable;
    this.notePassedOver(passedOver);
    this.#firstLeftOut = firstLeftOut;
  }

  /** Notes the last match of a file in the page, if any. */
  noteMatch(batch: WalkedPaths, index: number, position: Position | undefined): void {
    if (position !== undefined) this.#last = { batch, index, position };
  }

  /** Returns the place of the last match in the page, or the start of the page if it has none. */
  get lastPlace(): Place {
    if (this.#last === undefined) return this.#start;
    const { batch, index, position } = this.#last;
    return { file: batch.walkedPathOf(index), ...position };
  }

  /**
   * Returns the fields of a page, given the entries that the walk has passed over and, if the search stopped,
   * the reason and the place.
   */
  fields(walk: PassedWalk, stopped?: { readonly by: StoppedBy; readonly at: Place }): PageFields {
    const { searched, skipped } = this.#tally;
    const passed = this.#passedOver ?? walk.passedOver;
    const { excluded, files, bytes, tooLarge, binary } = passed;
    // A glob that matches nothing on this page may match on another.
    const isWhole = this.#isFirst && stopped === undefined;
    const folders = this.#unreadableFolders.filter(
      (folder) => stopped === undefined || folder < stopped.at.file,
    );
    const counts = {
      binary: skipped.binary + binary,
      excluded,
      long_lines: skipped.long_lines,
      too_large: skipped.too_large + tooLarge,
      unreadable: skipped.unreadable + folders.length,
    };
    return {
      ...(stopped && { next_cursor: this.#seal(stopped.at) }),
      ...(this.#namesLeftOut &&
        notSearched(passed, this.#firstLeftOut ?? walk.firstLeftOut, {
          skipped: counts,
          fileLimit: this.#fileLimit,
          goneRoots: [...this.#goneRoots],
        })),
      searched: { bytes: searched.bytes + bytes, files: searched.files + files },
      skipped: counts,
      ...(stopped && { stopped_by: stopped.by }),
      ...(this.#namesLeftOut && isWhole && unmatchedIn(walk)),
    };
  }
}

/** Maximum names of roots in an answer. */
const maxRootsNamed = 10;

function unmatchedIn({ unmatchedGlobs }: PassedWalk): Pick<PageFields, "unmatched_globs"> {
  if (unmatchedGlobs.length === 0) return {};
  return {
    unmatched_globs: unmatchedGlobs.map(({ list, glob, instead, onlyFolders }) => ({
      field: `${list}_globs` as const,
      glob,
      ...(instead !== undefined && { instead }),
      ...(onlyFolders && { only_folders: true as const }),
    })),
  };
}

/** The reasons to leave out entries that the walk of a page does not count. */
interface OtherwiseLeftOut {
  readonly skipped: PageFields["skipped"];
  readonly fileLimit: FileLimit | undefined;
  readonly goneRoots: readonly string[];
}

/**
 * Returns the left-out entries by reason, with the names of the first ones, or an empty object if nothing was
 * left out.
 */
function notSearched(
  { excluded, ignored, denied }: PassedOver,
  { byDefault, alsoIgnored, byIgnoreFiles }: FirstLeftOut,
  { skipped, fileLimit, goneRoots }: OtherwiseLeftOut,
): Pick<PageFields, "not_searched"> {
  const excludedByDefault = excluded - ignored;
  const names = byDefault.slice(0, excludedByDefault);
  const all: NotSearched[] = [
    {
      ...(names.some((name) => alsoIgnored.has(name)) && { also_ignored: true }),
      count: excludedByDefault,
      names,
      reason: "default_excludes",
    },
    { count: ignored, names: byIgnoreFiles.slice(0, ignored), reason: "ignore_files" },
    { count: denied, reason: "denied" },
    { count: skipped.binary, reason: "binary" },
    {
      count: skipped.too_large,
      ...(fileLimit && { max_bytes: fileLimit.max_bytes }),
      reason: "too_large",
      ...(fileLimit && { set_by: fileLimit.set_by }),
    },
    { count: skipped.unreadable, reason: "unreadable" },
    { count: skipped.long_lines, reason: "long_lines" },
    { count: goneRoots.length, names: goneRoots.slice(0, maxRootsNamed), reason: "root_gone" },
  ];
  const some = all.filter(({ count }) => count > 0);
  return some.length === 0 ? {} : { not_searched: some };
}
