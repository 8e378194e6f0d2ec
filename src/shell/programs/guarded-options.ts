/**
 * Refuses arguments of programs on the published allowlist that run a program, write a file or change the
 * system, unless the operator has configured a list. Stricter than getopt_long(3): a word that looks like an
 * option counts as one at every position, and so do all abbreviations.
 */
import type { Argv } from "./words.ts";

interface Guard {
  /** Refused options of one letter. */
  readonly letters: string;
  /** The letters with an argument: the rest of the word, or the next word. */
  readonly valued: string;
  /** The letters whose argument is the rest of the word, if any. */
  readonly optional?: string;
  /** The long options that are refused. */
  readonly names: readonly string[];
  /** Long options that take the next word as their argument if they have no "=". */
  readonly valuedNames: readonly string[];
  /** Returns whether to refuse a word that is not an option. `before` counts such words before it. */
  refusesOperand(word: string, before: number): boolean;
}

const guards: Readonly<Record<string, Guard>> = {
  // sort(1)
  sort: {
    letters: "oT",
    valued: "kSt",
    names: ["compress-program", "output", "temporary-directory"],
    valuedNames: [],
    refusesOperand: () => false,
  },
  // uniq(1): the second operand is the output
  uniq: {
    letters: "",
    valued: "fsw",
    names: [],
    valuedNames: ["skip-fields", "skip-chars", "check-chars"],
    refusesOperand: (_, before) => before > 0,
  },
  // date(1): an operand without "+" sets the clock
  date: {
    letters: "s",
    valued: "dfr",
    optional: "I",
    names: ["set"],
    valuedNames: ["date", "file", "reference", "rfc-3339"],
    refusesOperand: (word) => !word.startsWith("+"),
  },
  // hostname(1): an operand, or what a file holds, becomes the name
  hostname: {
    letters: "Fb",
    valued: "",
    names: ["file", "boot"],
    valuedNames: [],
    refusesOperand: () => true,
  },
};

/** Returns the first argument that `program` must not be called with, if any. */
export function findGuarded(program: string, [, ...args]: Argv): string | undefined {
  const guard = Object.hasOwn(guards, program) ? guards[program] : undefined;
  if (guard === undefined) return undefined;
  let operands = 0;
  let isValue = false;
  for (const word of args) {
    if (isOption(word)) {
      if (isRefused(guard, word)) return word;
      isValue = takesNext(guard, word);
    } else if (isValue) {
      isValue = false;
    } else if (guard.refusesOperand(word, operands++)) {
      return word;
    }
  }
  return undefined;
}

/**
 * Returns whether a word is an option: "-" is a file, and "--" ends the options, which does not count here.
 */
const isOption = (word: string) => word.startsWith("-") && word !== "-";

function isRefused(guard: Guard, word: string): boolean {
  if (word.startsWith("--")) return abbreviates(word, guard.names);
  return lettersOf(guard, word).some((letter) => guard.letters.includes(letter));
}

function takesNext(guard: Guard, word: string): boolean {
  if (word.startsWith("--")) return !word.includes("=") && abbreviates(word, guard.valuedNames);
  return guard.valued.includes(word.at(-1) ?? "") && lettersOf(guard, word).length === word.length - 1;
}

/** Returns whether a word such as "--outp=x" abbreviates one of the names. */
function abbreviates(word: string, names: readonly string[]): boolean {
  const [name = ""] = word.slice(2).split("=", 1);
  return name !== "" && names.some((full) => full.startsWith(name));
}

/** Returns the options in a word such as "-ro", up to the first that takes the rest of the word. */
function lettersOf({ valued, optional = "" }: Guard, word: string): string[] {
  const letters = [...word.slice(1)];
  const last = letters.findIndex((letter) => valued.includes(letter) || optional.includes(letter));
  return last === -1 ? letters : letters.slice(0, last + 1);
}
