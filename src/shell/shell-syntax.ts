/** Notes words of a command that only a shell would act on, since commands run without one. */

/** The operators of a shell, each as a word of its own. */
const operators = new Set([
  "|",
  "||",
  "&",
  "&&",
  ";",
  ">",
  ">>",
  "<",
  "<<",
  "<<<",
  "2>",
  "2>>",
  "&>",
  "2>&1",
  "|&",
]);

/** A variable or a substitution, alone or at the beginning of a path. */
const expansion = /^(?:\$\{?[A-Za-z_]\w*\}?(?:\/|$)|\$\(|`)/;

/** Programs that take patterns themselves. */
const takesPatterns = new Set([
  "find",
  "git",
  "rg",
  "grep",
  "jq",
  "sed",
  "awk",
  "node",
  "python3",
  "expr",
  "sh",
  "bash",
]);

/** A glob: a path that a shell would replace by names. */
const glob = /^[\w@%+=:,./-]*(?:\*|\?)[\w@%+=:,./*?-]*$/;

const shells = ["sh", "bash"];

/** The beginning of such a note. It is not about a rule of the sandbox. */
export const syntaxNote = "no shell";

/** A command that has ended. */
interface NotedCommand {
  readonly argv: readonly string[];
  /** The words of its line with operators outside of quotes; `undefined` if it had no line. */
  readonly operated?: readonly string[] | undefined;
  readonly stderr?: string | undefined;
}

/** Returns a note on the words of a command that a shell would act on, if it has any. */
export function noteSyntax(
  { argv: [program, ...words], operated, stderr = "" }: NotedCommand,
  allowlist: readonly string[],
): string[] {
  const name = lastNameOf(program!);
  const isGlob = takesPatterns.has(name) ? isMissingGlob(words, stderr) : (word: string) => glob.test(word);
  const ofLine = operated && new Set(operated);
  const isOperated = (word: string) => ofLine?.has(word) ?? (operators.has(word) && !isOwn(name, word));
  const isOfShell = shells.includes(name);
  const isActedOn = isOfShell
    ? (word: string) => ofLine?.has(word) ?? false
    : (word: string) => isOperated(word) || expansion.test(word) || isGlob(word);
  const found = firstOf(isOperated(program!) ? [program!, ...words] : words, isActedOn);
  if (found.length === 0) return [];
  const named = found.map((word) => JSON.stringify(word.slice(0, maxWordUnits))).join(", ");
  const shell = shells.find((one) => allowlist.length === 0 || allowlist.includes(one));
  const next = [
    ...optionsFor(name, found.find(isGlob)),
    ...(shell === undefined ? [] : [`${shell} with args ["-c", LINE] runs a line of a shell`]),
  ];
  return [[`${syntaxNote} runs here: ${name} got ${named} as it is`, ...next].join("; ")];
}

const lastNameOf = (program: string): string => program.slice(program.lastIndexOf("/") + 1);

/** Returns whether an operator is one of the program itself. */
const isOwn = (program: string, word: string): boolean => program === "find" && word === ";";

/** Returns the first words, at most three different ones, that pass the check. */
function firstOf(words: readonly string[], isWanted: (word: string) => boolean): string[] {
  const found = new Set<string>();
  for (const word of words) {
    if (isWanted(word)) found.add(word);
    if (found.size === 3) break;
  }
  return [...found];
}

/** Maximum UTF-16 units that are shown of a word. */
const maxWordUnits = 40;

/** Maximum globs of a command that are searched for in its errors, and UTF-16 units of the errors. */
const [maxGlobs, maxErrorUnits] = [100, 64 * 1024];

/**
 * Returns a check for globs that a program took for the name of a file, and did not find. It only finds those
 * at the beginning of the command and of its errors: programs report missing files in order.
 */
function isMissingGlob(words: readonly string[], stderr: string): (word: string) => boolean {
  const errors = stderr.slice(0, maxErrorUnits).split("\n");
  const lines = errors.filter((line) => /no such file/i.test(line)).join("\n");
  if (lines === "") return () => false;
  const globs = words.filter((word) => /[*?[{]/.test(word)).slice(0, maxGlobs);
  const found = new Set(globs.filter((word) => lines.includes(word)));
  return (word) => found.has(word);
}

/** Returns the options that let a program search the files of a glob. */
function optionsFor(program: string, word: string | undefined): string[] {
  if (word === undefined || word.length > maxWordUnits || /\s/.test(word)) return [];
  if (program === "rg") return [`rg -g ${word} PATTERN searches the files that it matches`];
  if (program !== "grep") return [];
  const names = word.split("/");
  const folders = names.slice(
    0,
    names.findIndex((name) => /[*?[{]/.test(name)),
  );
  const folder = folders.join("/") || (word.startsWith("/") ? "/" : ".");
  return [`grep -r --include=${names.at(-1)} PATTERN ${folder} searches such files`];
}
