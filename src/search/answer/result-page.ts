import type { UnmatchedGlob } from "../../ignore/path-globs.ts";
import { type Deadline, deadlineIn } from "../../scheduling/deadline.ts";
import type { Batch } from "../batches/batches.ts";
import { laterPlace, type Place, type Position } from "../place.ts";
import type { NotSearched, PageFields, PageRequest, StoppedBy } from "../request.ts";
import { type FirstLeftOut, type PassedOver, Tally } from "../walk/tally.ts";

/** Files, and their paths from the start of the walk. */
type WalkedPaths = Pick<Batch, "walkedPathOf">;

/** The last match that is in the page. */
interface LastMatch {
  readonly batch: WalkedPaths;
  readonly index: number;
  readonly position: Position;
}

/** What a walk for ranked paths came to. */
interface RankedCounts {
  readonly files: number;
  readonly unreadable: number;
  readonly passedOver: PassedOver;
  readonly firstLeftOut: FirstLeftOut;
}

/** What a walk passed over up to its end, or up to where it stopped. */
interface PassedWalk extends Pick<RankedCounts, "passedOver" | "firstLeftOut"> {
  readonly unmatchedGlobs: readonly UnmatchedGlob[];
}

/** A part of the results, from one place on: what one answer holds, and where the next one goes on. */
export class ResultPage {
  /** Where the matches of this page in files begin. */
  readonly after: Place | undefined;
  /** Where the next one starts if nothing else gets into this one. */
  #start: Place;
  readonly #seal: PageRequest["seal"];
  readonly #namesLeftOut: boolean;
  readonly #isFirst: boolean;
  readonly #deadline: Deadline | undefined;
  readonly #tally = new Tally();
  readonly #unreadableFolders: string[] = [];
  #last: LastMatch | undefined;
  #hasProgress = false;
  #passedOver: PassedOver | undefined;
  #firstLeftOut: FirstLeftOut | undefined;

  /** For a call that has so much time left. */
  constructor(
    { after, seal, milliseconds, namesLeftOut = false }: PageRequest,
    millisecondsLeft: number,
    start: Place = laterPlace("", undefined),
  ) {
    this.after = after?.rank === undefined ? after : undefined;
    this.#start = after ?? start;
    this.#seal = seal;
    this.#namesLeftOut = namesLeftOut;
    this.#isFirst = after === undefined;
    this.#deadline =
      milliseconds === undefined ? undefined : deadlineIn(Math.min(milliseconds, millisecondsLeft));
  }

  /** Whether it has to end early. It never does before the next page would start at a later place. */
  get isOver(): boolean {
    return this.#hasProgress && this.#deadline?.left === 0;
  }

  /** Milliseconds that may pass before it comes further: half of those that are left. Undefined where there is no limit. */
  get preparationMilliseconds(): number | undefined {
    return this.#deadline && this.#deadline.left / 2;
  }

  /** Aborts when the time is up. */
  get signal(): AbortSignal | undefined {
    return this.#deadline?.signal;
  }

  /** Frees the timer. */
  end(): void {
    this.#deadline?.end();
  }

  /** The next page would start at a later place than this one. */
  makeProgress(): void {
    this.#hasProgress = true;
  }

  /** The same if the walk, which has found no file since, is there. */
  makeProgressTo(walked: string | undefined): void {
    if (walked === undefined || walked > (this.after?.file ?? "")) this.#hasProgress = true;
  }

  /** What earlier pages hold of the first file of the batch. */
  afterIn(batch: Batch): Position | undefined {
    return !batch.isEmpty && batch.walkedPathOf(0) === this.after?.file ? this.after : undefined;
  }

  /** Counts the first `count` files of a batch, of which the last one may not be searched to its end. */
  count(batch: Float64Array, count: number, isLastWhole: boolean): void {
    this.#tally.add(batch, count, isLastWhole);
  }

  /** Counts a file of which only the path was searched. */
  countPath(): void {
    this.#tally.searched.files++;
  }

  /** Counts a batch that nothing could search. */
  countLost({ count }: Batch): void {
    this.#tally.skipped.unreadable += count;
  }

  countUnreadableFolder(walked: string): void {
    this.#unreadableFolders.push(walked);
  }

  /** What the walk had passed over before the file with which the page ends. */
  notePassedOver(passedOver: PassedOver): void {
    this.#passedOver ??= passedOver;
  }

  /** Up to where the ranked paths are in the page. */
  noteRanked(place: Place): void {
    this.#start = place;
  }

  /** All ranked paths are in this page, or in earlier ones. */
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

  /** Up to where the matches in a file are in the page, if any are. */
  noteMatch(batch: WalkedPaths, index: number, position: Position | undefined): void {
    if (position !== undefined) this.#last = { batch, index, position };
  }

  /** The place after its last match. */
  get lastPlace(): Place {
    if (this.#last === undefined) return this.#start;
    const { batch, index, position } = this.#last;
    return { file: batch.walkedPathOf(index), ...position };
  }

  /** The last fields of the answer, for a search that stopped at a place, and a walk that has passed over so much. */
  fields(walk: PassedWalk, stopped?: { readonly by: StoppedBy; readonly at: Place }): PageFields {
    const { searched, skipped } = this.#tally;
    const passed = this.#passedOver ?? walk.passedOver;
    const { excluded, files, bytes, tooLarge, binary } = passed;
    // What is on other pages may match.
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
      ...(this.#namesLeftOut && notSearched(passed, this.#firstLeftOut ?? walk.firstLeftOut, counts)),
      searched: { bytes: searched.bytes + bytes, files: searched.files + files },
      skipped: counts,
      ...(stopped && { stopped_by: stopped.by }),
      ...(this.#namesLeftOut && isWhole && unmatchedIn(walk)),
    };
  }
}

function unmatchedIn({ unmatchedGlobs }: PassedWalk): Pick<PageFields, "unmatched_globs"> {
  if (unmatchedGlobs.length === 0) return {};
  return {
    unmatched_globs: unmatchedGlobs.map(({ list, glob, onlyFolders }) => ({
      field: `${list}_globs` as const,
      glob,
      ...(onlyFolders && { only_folders: true as const }),
    })),
  };
}

/** What was left out, for each reason with the names of the first; nothing if nothing was. */
function notSearched(
  { excluded, ignored, denied }: PassedOver,
  { byDefault, alsoIgnored, byIgnoreFiles }: FirstLeftOut,
  skipped: PageFields["skipped"],
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
    { count: skipped.too_large, reason: "too_large" },
    { count: skipped.unreadable, reason: "unreadable" },
    { count: skipped.long_lines, reason: "long_lines" },
  ];
  const some = all.filter(({ count }) => count > 0);
  return some.length === 0 ? {} : { not_searched: some };
}
