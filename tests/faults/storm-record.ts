import type { StormAnswer, StormIndex } from "./storm-workers.ts";

export interface StormReport {
  /** Searches during the storm, by the index of the worker and the index that the answer names. */
  readonly searches: Readonly<Record<string, number>>;
  readonly matches: number;
  /** The number of reads of a short file during the searches. */
  readonly reads: number;
  /** Descriptions of the answers that were wrong. */
  readonly faults: readonly string[];
}

/** Collects the results of a storm. */
export class StormRecord implements StormReport {
  readonly searches: Record<string, number> = {};
  readonly faults: string[] = [];
  matches = 0;
  reads = 0;
  /** The duration of each call in milliseconds. */
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

  /** Records a fault if two lists of `path: line` differ. */
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
