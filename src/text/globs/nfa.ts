import type { CodePointRange, Sequence, Token } from "./parse.ts";

/** A state that reads one character, or one with transitions to several states that reads none. */
export type State =
  | { readonly ranges: readonly CodePointRange[]; readonly next: number }
  | { readonly fork: readonly number[] };

/** A nondeterministic automaton (Thompson's construction). States are identified by their indices. */
export interface Nfa {
  readonly states: readonly State[];
  readonly start: number;
  /**
   * The number of accepting states, which come first and have no transitions: state `i` completes a match of
   * group `i`.
   */
  readonly accepts: number;
}

/**
 * Builds an automaton that accepts whatever one of the sequences of a group matches. Its size is linear in
 * theirs.
 */
export function buildNfa(groups: readonly (readonly Sequence[])[]): Nfa {
  const builder = new Builder(groups.length);
  const start = builder.groups(groups);
  return { states: builder.states, start, accepts: groups.length };
}

const anyCharacter: readonly CodePointRange[] = [{ from: 0, to: 0x10ffff }];
const slash: readonly CodePointRange[] = [{ from: 0x2f, to: 0x2f }];

/** Builds from the end: every method takes the next state, and returns the first one. */
class Builder {
  readonly states: State[];

  constructor(accepts: number) {
    this.states = Array.from({ length: accepts }, () => ({ fork: [] }));
  }

  /**
   * Adds the groups. Sequences that begin with any folders share the states of these; otherwise each would
   * keep its own active.
   */
  groups(groups: readonly (readonly Sequence[])[]): number {
    const entries: number[] = [];
    const entriesInAnyFolder: number[] = [];
    groups.forEach((sequences, accept) => {
      for (const sequence of sequences) {
        const [first, ...rest] = sequence;
        if (first?.kind === "folders") entriesInAnyFolder.push(this.sequence(rest, accept));
        else entries.push(this.sequence(sequence, accept));
      }
    });
    const inAnyFolder = this.token({ kind: "folders" }, this.add({ fork: entriesInAnyFolder }));
    return this.add({ fork: [...entries, inAnyFolder] });
  }

  private alternatives(branches: readonly Sequence[], next: number): number {
    return this.add({ fork: branches.map((branch) => this.sequence(branch, next)) });
  }

  private sequence(tokens: Sequence, next: number): number {
    return tokens.reduceRight((after, token) => this.token(token, after), next);
  }

  private token(token: Token, next: number): number {
    switch (token.kind) {
      case "one":
        return this.add({ ranges: token.ranges, next });
      case "run":
        return this.run(token.ranges ?? anyCharacter, next);
      case "folders":
        return this.add({ fork: [next, this.run(anyCharacter, this.add({ ranges: slash, next }))] });
      case "alternatives":
        return token.branches.length === 0 ? next : this.alternatives(token.branches, next);
    }
  }

  private run(ranges: readonly CodePointRange[], next: number): number {
    const loop = this.states.length;
    this.states.push({ fork: [next, loop + 1] }, { ranges, next: loop });
    return loop;
  }

  private add(state: State): number {
    return this.states.push(state) - 1;
  }
}
