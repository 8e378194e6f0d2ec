/** A listener of mutations, for tests. */
import { expect } from "bun:test";
import type { Mutation, MutationListener } from "./mutation.ts";

/** Records each event, one per line. */
export class Recorder implements MutationListener {
  readonly lines: string[] = [];
  readonly mutations: Mutation[] = [];

  before(mutation: Mutation): void {
    this.mutations.push(mutation);
    this.lines.push(`before ${this.#line(mutation)}`);
  }

  after(mutation: Mutation, outcome: string): void {
    this.lines.push(`${outcome} ${this.#line(mutation)}`);
  }

  #line({ kind, entry, from, path, whole }: Mutation): string {
    const paths = from === undefined ? path : `${from} to ${path}`;
    return `${kind} ${entry} ${paths}${whole === undefined ? "" : ` in ${whole.path}`}`;
  }

  /** Returns the lines since the last call. Throws unless `before` and `after` come in pairs. */
  take(): string[] {
    const lines = this.lines.splice(0);
    const open: string[] = [];
    for (const line of lines) {
      const [, word, rest] = /^(\w+) (.*)$/.exec(line) ?? [];
      if (word === "before") open.push(rest!);
      else expect(open.pop()).toBe(rest!);
    }
    expect(open).toEqual([]);
    return lines.filter((line) => !line.startsWith("before "));
  }
}
