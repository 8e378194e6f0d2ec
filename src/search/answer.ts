import { digits, jsonBytes } from "../text/json-size.ts";
import type { Finding } from "./files.ts";
import type { LineMatch } from "./lines.ts";
import type { ContentMatch, Found, PathMatch } from "./request.ts";

/** What an answer may hold. */
export interface AnswerLimits {
  /** Entries of each list. */
  readonly maxMatches: number;
  /** Bytes of the whole answer as JSON. */
  readonly maxBytes: number;
  readonly content: boolean;
  readonly paths: boolean;
}

/** JSON of an answer without matches, and of matches without their strings and numbers. */
const envelopeBytes = jsonBytes({ content_matches: [], path_matches: [], truncated: false });
const pathMatchBytes = jsonBytes({ path: "" }) - jsonBytes("");
const contentMatchBytes =
  jsonBytes({ path: "", line: 0, column: 0, text: "" }) - 2 * jsonBytes("") - 2 * jsonBytes(0);

const quotes = jsonBytes("");
const commaBytes = 1;

/**
 * The two lists of an answer, filled in order. A list is over when a match was left out of it: then, and only then,
 * the answer is truncated.
 */
export class SearchAnswerBuilder {
  readonly #contents: ContentMatch[] = [];
  readonly #paths: PathMatch[] = [];
  readonly #limits: AnswerLimits;
  readonly #over = { content: false, paths: false };
  #bytes = envelopeBytes;
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
  get remainingLines(): number {
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
    const pathBytes = jsonBytes(path);
    if (isInPath) this.#addPath(path, pathBytes);
    if (!this.#addTogether(path, lines, pathBytes))
      for (const line of lines) this.#addLine(path, line, pathBytes);
  }

  #addPath(path: string, pathBytes: number): void {
    if (!this.wantsPaths) return;
    if (this.#admit(this.#paths, pathMatchBytes + pathBytes)) this.#paths.push({ path });
    else this.#end("paths");
  }

  /** Takes in all lines of a file if all fit: their texts are measured as one, in a third of the time. */
  #addTogether(path: string, lines: readonly LineMatch[], pathBytes: number): boolean {
    if (lines.length < 2 || !this.wantsContent) return false;
    if (this.#contents.length + lines.length > this.#limits.maxMatches) return false;
    const texts = jsonBytes(lines.map(({ text }) => text).join("")) - quotes;
    const numbers = lines.reduce((sum, { line, column }) => sum + digits(line) + digits(column), 0);
    const perLine = contentMatchBytes + pathBytes + quotes + commaBytes;
    const noComma = this.#contents.length === 0 ? commaBytes : 0;
    const bytes = this.#bytes + texts + numbers + lines.length * perLine - noComma;
    if (bytes > this.#limits.maxBytes) return false;
    this.#bytes = bytes;
    for (const line of lines) this.#contents.push({ path, ...line });
    return true;
  }

  #addLine(path: string, match: LineMatch, pathBytes: number): void {
    if (!this.wantsContent) return;
    const { line, column, text } = match;
    const numberBytes = digits(line) + digits(column);
    if (this.#admit(this.#contents, contentMatchBytes + pathBytes + numberBytes + jsonBytes(text)))
      this.#contents.push({ path, ...match });
    else this.#end("content");
  }

  /** Something was left out without having been seen. */
  cut(): void {
    this.#truncated = true;
  }

  render(): Found {
    const answer = {
      content_matches: this.#contents,
      path_matches: this.#paths,
      truncated: this.#truncated,
    };
    return { answer, bytes: this.#bytes + jsonBytes(this.#truncated) - jsonBytes(false) };
  }

  #end(list: "content" | "paths"): void {
    this.#over[list] = true;
    this.#truncated = true;
  }

  /** Counts another match in the list, of so many bytes, if it fits. */
  #admit(list: readonly unknown[], matchBytes: number): boolean {
    if (list.length === this.#limits.maxMatches) return false;
    const bytes = this.#bytes + matchBytes + (list.length === 0 ? 0 : commaBytes);
    // No later match may take the place of this one: the answer would not be the first matches.
    if (bytes > this.#limits.maxBytes) this.#over.content = this.#over.paths = true;
    else this.#bytes = bytes;
    return bytes <= this.#limits.maxBytes;
  }
}
