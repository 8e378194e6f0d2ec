import { type Author, authorId } from "../../base/author.ts";
import type { Cause } from "../../filesystem/feed/change.ts";

/** The calls, programs and commands that changed an entry between two times. */
export class Credit {
  static readonly none = new Credit([], []);
  /** The numbers of their records. */
  readonly seqs: readonly number[];
  /** The causes of changes without a record: other programs, and commands. */
  readonly others: readonly Cause[];

  constructor(seqs: readonly number[], others: readonly Cause[]) {
    this.seqs = seqs;
    this.others = others;
  }

  /** Returns this credit with another record or cause. */
  with(by: number | Cause): Credit {
    if (typeof by === "number")
      return this.seqs.includes(by) ? this : new Credit([...this.seqs, by], this.others);
    return this.others.some((one) => isSame(one, by)) ? this : new Credit(this.seqs, [...this.others, by]);
  }

  /** Returns the union of this credit and another. */
  and(other: Credit = Credit.none): Credit {
    return [...other.seqs, ...other.others].reduce<Credit>((all, by) => all.with(by), this);
  }
}

function isSame(one: Cause, other: Cause): boolean {
  if (one.by === "external" || other.by === "external") return one.by === other.by;
  const [ran, ranOther] = [one.commands ?? [], other.commands ?? []];
  const isByOne = isSameOrNone(one.author, other.author) && one.function_id === other.function_id;
  const isWithOthers = ran.length === ranOther.length && ran.every((each, n) => isSame(each, ranOther[n]!));
  return isByOne && one.program === other.program && isWithOthers;
}

const isSameOrNone = (one: Author | undefined, other: Author | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && nameOf(one) === nameOf(other));

/** Returns the id of an author, or the name that all clients without a session share that claim it. */
const nameOf = (author: Author): string | undefined => authorId(author) ?? author.client;
