import type { Finding } from "./files.ts";
import type { LineMatch } from "./lines.ts";
import type { ContentMatch, PathMatch, SearchAnswer } from "./search.ts";

/** What an answer may hold. */
export interface AnswerLimits {
  /** Entries of each list. */
  readonly maxMatches: number;
  /** Bytes of the whole answer as JSON. */
  readonly maxBytes: number;
  readonly content: boolean;
  readonly paths: boolean;
}

/** JSON of an answer without matches, and of a match without its strings and with numbers of ten digits. */
const envelopeBytes = JSON.stringify({ content_matches: [], path_matches: [], truncated: false }).length;
const matchBytes =
  JSON.stringify({ path: "", line: 4_294_967_295, column: 4_294_967_295, text: "" }).length + 1;
/** The longest escape of one UTF-16 unit is `\u0000`. */
const mostBytesPerUnit = 6;

/**
 * The two lists of an answer, filled in order. A list is over when a match was left out of it: then, and only then,
 * the answer is truncated.
 */
export class Answer {
  readonly #contents: ContentMatch[] = [];
  readonly #paths: PathMatch[] = [];
  readonly #limits: AnswerLimits;
  readonly #over = { content: false, paths: false };
  /** Never less than the JSON of what is in the lists takes. */
  #bytes = envelopeBytes;
  #counted = false;
  #truncated = false;

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
  }

  get wantsContent(): boolean {
    return this.#limits.content && !this.#over.content;
  }

  get wantsPaths(): boolean {
    return this.#limits.paths && !this.#over.paths;
  }

  /** Matching lines that would change the answer: one more than fit. */
  get contentRoom(): number {
    return this.#limits.maxMatches - this.#contents.length + 1;
  }

  /** The share of matching lines that is there already, from 0 to 1. */
  get fill(): number {
    return this.#contents.length / Math.max(1, this.#limits.maxMatches);
  }

  get isFull(): boolean {
    return !this.wantsContent && !this.wantsPaths;
  }

  /** Takes in what was found in the file at `path`. */
  add(path: string, { isInPath, lines }: Finding): void {
    if (isInPath) this.#addPath(path);
    for (const line of lines) this.#addLine(path, line);
  }

  #addPath(path: string): void {
    if (!this.wantsPaths) return;
    const fits = this.#paths.length < this.#limits.maxMatches && this.#admit({ path }, path.length);
    if (fits) this.#paths.push({ path });
    else this.#end("paths");
  }

  #addLine(path: string, { line, column, text }: LineMatch): void {
    if (!this.wantsContent) return;
    const match = { path, line, column, text };
    const fits =
      this.#contents.length < this.#limits.maxMatches && this.#admit(match, path.length + text.length);
    if (fits) this.#contents.push(match);
    else this.#end("content");
  }

  /** Something was left out without having been seen. */
  cut(): void {
    this.#truncated = true;
  }

  render(): SearchAnswer {
    return { content_matches: this.#contents, path_matches: this.#paths, truncated: this.#truncated };
  }

  #end(list: "content" | "paths"): void {
    this.#over[list] = true;
    this.#truncated = true;
  }

  /** Counts the match in, if it fits. Sizes are estimated until the estimate is too large, then counted. */
  #admit(match: ContentMatch | PathMatch, units: number): boolean {
    const { maxBytes } = this.#limits;
    const most = this.#bytes + matchBytes + units * mostBytesPerUnit;
    if (!this.#counted && most <= maxBytes) {
      this.#bytes = most;
      return true;
    }
    if (!this.#counted) this.#count();
    const exact = this.#bytes + jsonBytes(match);
    if (exact <= maxBytes) this.#bytes = exact;
    // No later match may take the place of this one: the answer would not be the first matches.
    else this.#over.content = this.#over.paths = true;
    return exact <= maxBytes;
  }

  #count(): void {
    this.#counted = true;
    this.#bytes = envelopeBytes;
    for (const match of this.#contents) this.#bytes += jsonBytes(match);
    for (const match of this.#paths) this.#bytes += jsonBytes(match);
  }
}

/** With the comma after it. */
const jsonBytes = (match: ContentMatch | PathMatch): number => Buffer.byteLength(JSON.stringify(match)) + 1;
