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

/** Returns a note on the words of a command that a shell would act on, if it has any. */
export function noteSyntax(
  [program, ...words]: readonly string[],
  allowlist: readonly string[],
  stderr = "",
): string[] {
  const name = program!.slice(program!.lastIndexOf("/") + 1);
  const isGlob = takesPatterns.has(name) ? isMissingGlob(stderr) : (word: string) => glob.test(word);
  const isActedOn = (word: string) => operators.has(word) || expansion.test(word) || isGlob(word);
  const found = [...new Set(words.filter(isActedOn))].slice(0, 3);
  if (found.length === 0 || shells.includes(name)) return [];
  const named = found.map((word) => JSON.stringify(word.slice(0, maxWordUnits))).join(", ");
  const shell = shells.find((one) => allowlist.length === 0 || allowlist.includes(one));
  const next = [
    ...optionsFor(name, found.find(isGlob)),
    ...(shell === undefined ? [] : [`${shell} with args ["-c", LINE] runs a line of a shell`]),
  ];
  return [[`${syntaxNote} runs here: ${name} got ${named} as it is`, ...next].join("; ")];
}

/** Maximum UTF-16 units that are shown of a word. */
const maxWordUnits = 40;

/** Returns a check for globs that a program took for the name of a file, and did not find. */
function isMissingGlob(stderr: string): (word: string) => boolean {
  const lines = stderr.split("\n").filter((line) => /no such file/i.test(line));
  return (word) => /[*?[{]/.test(word) && lines.some((line) => line.includes(word));
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
