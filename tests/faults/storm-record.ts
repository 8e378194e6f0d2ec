import type { StormAnswer, StormIndex } from "./storm-workers.ts";

export interface StormReport {
  /** Searches while files changed, by the worker's index and how the files were found. */
  readonly searches: Readonly<Record<string, number>>;
  readonly matches: number;
  /** Reads of a short file meanwhile. */
  readonly reads: number;
  /** Answers that were wrong. */
  readonly faults: readonly string[];
}

/** What was found out. */
export class StormRecord implements StormReport {
  readonly searches: Record<string, number> = {};
  readonly faults: string[] = [];
  matches = 0;
  reads = 0;
  /** Milliseconds of each call. */
  readonly times: Record<"read" | "search", number[]> = { read: [], search: [] };

  async time<Answer>(kind: "read" | "search", call: Promise<Answer>): Promise<Answer> {
    const began = performance.now();
    const answer = await call;
    this.times[kind].push(performance.now() - began);
    return answer;
  }

  count(index: StormIndex, answer: StormAnswer): void {
    const kind = `${index}: ${answer.index}`;
    this.searches[kind] = (this.searches[kind] ?? 0) + 1;
    this.matches += answer.content_matches.length;
  }

  /** Notes a difference between lists of `path: line`. */
  compare(what: string, found: readonly string[], expected: readonly string[]): void {
    if (found.join("\n") === expected.join("\n")) return;
    const [more, missing] = [new Set(found), new Set(expected)];
    for (const one of expected) more.delete(one);
    for (const one of found) missing.delete(one);
    const some = (set: Set<string>) => [...set].slice(0, 3).join("; ");
    this.faults.push(
      `${what}: ${found.length} found, ${expected.length} expected; too many: ${some(more)}; missing: ${some(missing)}`,
    );
  }
}
