import type { SearchAnswerBuilder } from "./answer/answer.ts";
import type { ResultPage } from "./answer/result-page.ts";
import type { ListedPaths, PathTaker } from "./index/listed-paths.ts";
import { PathLiteral } from "./matchers/path-literal.ts";
import { atPath, isAfter } from "./place.ts";
import type { SearchOptions } from "./state.ts";
import type { SharedFolder } from "./walk/shared-folder.ts";
import type { FileSink, Walk } from "./walk/walk.ts";

export interface PathSearchOptions extends SearchOptions {
  /** The rest of the files, which replaces the walk that the search began with. */
  readonly rest: Pick<Walk | ListedPaths, "fill" | "position" | "passedOver">;
  readonly answer: SearchAnswerBuilder;
  readonly page: ResultPage | undefined;
  /** Returns whether the search has to end early. */
  readonly isOver: () => boolean;
}

/**
 * Searches the rest of the paths for a literal query in this thread, because a message to another one would
 * take longer. Returns false if it ended early.
 */
export async function searchPaths(options: PathSearchOptions): Promise<boolean> {
  const { rest, answer, page, isOver, slice } = options;
  const sink = new PathSink(options);
  while (!answer.isFull && rest.fill(sink)) {
    page?.makeProgressTo(rest.position);
    if (!answer.isFull && isOver()) return false;
    if (slice.isDue) await slice.yieldIfDue();
  }
  return true;
}

/** Adds matching paths to the answer, and opens no file. */
class PathSink implements FileSink, PathTaker {
  readonly #literal: PathLiteral;
  readonly #options: PathSearchOptions;
  #isFull: boolean;

  constructor(options: PathSearchOptions) {
    this.#isFull = options.answer.isFull;
    this.#literal = new PathLiteral(options.request.query);
    this.#options = options;
  }

  mayTake(folder: Pick<SharedFolder, "prefix">, bytes: Buffer, from: number, to: number): boolean {
    return this.#options.page !== undefined || this.#literal.matches(folder, bytes, from, to);
  }

  add(folder: Pick<SharedFolder, "prefix" | "walked">, bytes: Buffer, from: number, to: number): boolean {
    const { answer, page, rest } = this.#options;
    if (this.#isFull) return false;
    page?.countPath();
    if (!this.#literal.matches(folder, bytes, from, to)) return true;
    const walked = page && folder.walked + bytes.toString("latin1", from, to);
    if (walked !== undefined && walked === page?.after?.file && !isAfter(atPath, page.after)) return true;
    answer.addPath(folder.prefix + bytes.toString("utf8", from, to));
    this.#isFull = answer.isFull;
    if (walked === undefined) return true;
    page?.noteMatch({ walkedPathOf: () => walked }, 0, answer.lastAdded);
    if (this.#isFull) page?.notePassedOver(rest.passedOver);
    return true;
  }
}
