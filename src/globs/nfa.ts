import type { CodePointRange, Sequence, Token } from "./parse.ts";

/** A state that takes one character, or one that goes on in several states at once without taking any. */
export type State =
  | { readonly ranges: readonly CodePointRange[]; readonly next: number }
  | { readonly fork: readonly number[] };

/** A nondeterministic automaton (Thompson's construction). States are named by their index. */
export interface Nfa {
  readonly states: readonly State[];
  readonly start: number;
}

/** The state in which a match is complete; it goes on nowhere. */
export const accept = 0;

/** An automaton that accepts what any of the sequences matches; its size is linear in theirs. */
export function buildNfa(sequences: readonly Sequence[]): Nfa {
  const builder = new Builder();
  const start = builder.alternatives(sequences, accept);
  return { states: builder.states, start };
}

const anyCharacter: readonly CodePointRange[] = [{ from: 0, to: 0x10ffff }];
const slash: readonly CodePointRange[] = [{ from: 0x2f, to: 0x2f }];

/** Builds from the end: every method takes the state to go on in, and returns the state to enter by. */
class Builder {
  readonly states: State[] = [{ fork: [] }];

  alternatives(branches: readonly Sequence[], next: number): number {
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
        return this.run(next);
      case "folders":
        return this.add({ fork: [next, this.run(this.add({ ranges: slash, next }))] });
      case "alternatives":
        return token.branches.length === 0 ? next : this.alternatives(token.branches, next);
    }
  }

  private run(next: number): number {
    const loop = this.states.length;
    this.states.push({ fork: [next, loop + 1] }, { ranges: anyCharacter, next: loop });
    return loop;
  }

  private add(state: State): number {
    return this.states.push(state) - 1;
  }
}
