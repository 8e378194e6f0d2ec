/**
 * Refusals that are bare prose on the wire, without a code (shell §2.3). Clients match their fixed phrases
 * (shell §11.2).
 */

import type { Reason } from "../../base/errors.ts";
import { isSettable } from "./environment.ts";
import { type StartProblem, startProblems } from "./start-problems.ts";

export class PlainRefusal extends Error {
  override readonly name = "PlainRefusal";
  /** The reason, whose code only the log and the audit trail name. */
  readonly reason: Reason;

  constructor(reason: Reason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Returns a text of the caller, short, well-formed and on one line. */
const shown = (text: string): string =>
  text
    .slice(0, 300)
    .toWellFormed()
    .replace(
      /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );

/** Returns the kind of a value that a caller sent instead of a string. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

/** The constructors. Nothing else in the project makes a `PlainRefusal`. */
export const refusePlainly = {
  /**
   * Refuses an invalid payload of a function without phrases of its own. `problem` comes from a `Mismatch`.
   */
  badPayload: (field: string, problem: string): PlainRefusal =>
    new PlainRefusal("bad-input", `invalid payload: ${field === "" ? "it" : `\`${field}\``} ${problem}.`),

  missingCommand: (): PlainRefusal =>
    new PlainRefusal(
      "bad-input",
      'missing field `command`; send the name of a program, such as "ls", and its arguments in args.',
    ),

  commandNotAString: (value: unknown): PlainRefusal =>
    new PlainRefusal(
      "bad-input",
      `'command' must be a string, and is ${kindOf(value)}; send the program's name in command and its arguments in args.`,
    ),

  argsNotAnArray: (): PlainRefusal =>
    new PlainRefusal(
      "bad-input",
      `'args' must be an array of strings, such as ["-l", "src"]; send one, or leave it out and send a whole line in command.`,
    ),

  argNotAString: (index: number, value: unknown): PlainRefusal =>
    new PlainRefusal(
      "bad-input",
      `'args[${index}]' must be a string, and is ${kindOf(value)}; put it in quotes.`,
    ),

  tooManyArgs: (count: number, most: number): PlainRefusal =>
    new PlainRefusal("bad-input", `'args' has ${count} entries, and may have ${most}; send fewer.`),

  tooManyVariables: (count: number, most: number): PlainRefusal =>
    new PlainRefusal("bad-input", `'env' has ${count} entries, and may have ${most}; send fewer.`),

  /** Refuses a line in `command`. */
  tooManyWords: (most: number): PlainRefusal =>
    new PlainRefusal(
      "bad-input",
      `'command' is a line of more than ${most} words, and may have as many; send fewer, or put them in a file that the program reads.`,
    ),

  /** Refuses a line in `command`, or a name. */
  longCommand: (length: number, most: number): PlainRefusal =>
    new PlainRefusal(
      "bad-input",
      `'command' has ${length} characters, and may have ${most}; send a long text in stdin, or in a file that the program reads.`,
    ),

  illFormed: (field: string): PlainRefusal =>
    new PlainRefusal(
      "bad-input",
      `'${field}' holds half of a surrogate pair; send well-formed Unicode text.`,
    ),

  /** Refuses a variable that callers may not set. */
  notSettable: (name: string): PlainRefusal =>
    new PlainRefusal(
      "denied-by-rule",
      /^[A-Za-z_]\w*$/.test(name)
        ? `env holds '${shown(name)}', which callers may not set: it decides what programs run, or where their files are. Leave it out.`
        : `env holds '${shown(name)}', which is not the name of a variable. Leave it out, or take letters, digits and _ for its name.`,
    ),

  /** Refuses a variable that is not on the list of those that callers may set. */
  notListed: (name: string, listed: string): PlainRefusal =>
    new PlainRefusal(
      "denied-by-rule",
      `env holds '${shown(name)}', and callers may set these variables only: ${listed}. Take one of them, or ask the user to add the name to allowed_env.`,
    ),

  /** Refuses a field that a command for another worker cannot have. */
  hostOnly: (field: string): PlainRefusal =>
    new PlainRefusal(
      "bad-input",
      `'${field}' is for commands on the host; leave it out, or leave target out.`,
    ),

  emptyCommand: (): PlainRefusal =>
    new PlainRefusal(
      "bad-input",
      'empty command; send the name of a program, such as "ls", and its arguments in args.',
    ),

  unclosedQuote: (quote: string): PlainRefusal =>
    new PlainRefusal(
      "bad-input",
      `argv: parse command: a quote (${quote}) is not closed; close it, or send the arguments in args, where quotes mean nothing.`,
    ),

  /** Refuses several lines in `command`. `shell` is the name of one that may run, if any. */
  severalLines: (shell: string | undefined): PlainRefusal =>
    new PlainRefusal(
      "bad-input",
      `'command' has a line break outside of quotes, and no shell runs here: one program would get the words of all lines. Nothing was run. Send each command in a call of its own, or the lines of one command joined by blanks${shell === undefined ? "" : `, or ${shell} as 'command' and ["-c", LINES] as 'args'`}.`,
    ),

  denylisted: (pattern: string): PlainRefusal =>
    new PlainRefusal(
      "denied-by-rule",
      `command matches denylist: ${pattern}; the user does not permit what it describes, however it is written. Leave it out, or ask the user.`,
    ),

  /**
   * Refuses a program, by its name or path. `maySet` returns whether the caller may set a variable of a name.
   */
  notAllowed: (
    sent: string,
    allowed: readonly string[],
    maySet: (name: string) => boolean = () => true,
  ): PlainRefusal =>
    new PlainRefusal(
      "denied-by-rule",
      `command '${shown(sent)}' not in allowlist; send one of these instead: ${listAllowed(allowed)}.${insteadOf(isAssignment(sent) ? sent : lastName(sent), allowed, maySet)}`,
    ),

  /** Refuses a path whose name is listed but that is not the file of that name, or a missing file. */
  otherFile: (sent: string): PlainRefusal =>
    new PlainRefusal(
      "denied-by-rule",
      `command '${shown(sent)}' not in allowlist under this path, because it is not the file that the name stands for; send "${shown(lastName(sent))}" without a folder.`,
    ),

  writable: (name: string): PlainRefusal =>
    new PlainRefusal(
      "denied-by-rule",
      `command '${shown(name)}' lies in a folder that calls can write in, and nothing there is ever run by this worker; send a program of the operating system.`,
    ),

  /**
   * Refuses an argument that makes a program of the published allowlist run programs, write files or change
   * the system.
   */
  guarded: (name: string, argument: string): PlainRefusal =>
    new PlainRefusal(
      "denied-by-rule",
      `command '${shown(name)}' not allowed with '${shown(argument)}', which can run a program, write a file or change the system; leave it out and take what the answer holds in stdout, or ask the user for an allowlist that names '${shown(name)}'.`,
    ),

  /** Refuses a program that `shell::exec_bg` could not start (shell §7.2). */
  notStarted: (problem: StartProblem): PlainRefusal =>
    new PlainRefusal("io", `spawn: ${startProblems[problem]}.`),

  tooManyJobs: (most: number, running: number): PlainRefusal =>
    new PlainRefusal(
      "over-quota",
      `max concurrent jobs is ${most}, and ${running} are running; wait for one to finish (shell::status), or end one with shell::kill.`,
    ),

  /** Refuses the id of another job, which may have ended: its output is still kept. */
  jobIdTaken: (id: string, free: string): PlainRefusal =>
    new PlainRefusal(
      "exists",
      `job_id: a job with the id ${shown(id)} already exists. Choose another one, such as ${shown(free)}, or leave job_id out to get one.`,
    ),

  badJobId: (id: string): PlainRefusal =>
    new PlainRefusal(
      "bad-input",
      `job_id is '${shown(id)}'; send 1 to 100 characters without line ends and other control characters, or leave it out to get one.`,
    ),

  noSuchJob: (id: string): PlainRefusal =>
    new PlainRefusal(
      "missing",
      `no such job: ${shown(id)}; it never was, or its record has been dropped; see shell::list for those there are.`,
    ),

  notSignalled: (id: string): PlainRefusal =>
    new PlainRefusal(
      "permission",
      `the operating system does not permit to end ${id}, which runs as another user; wait for it to finish.`,
    ),
} as const;

/** Maximum programs of an allowlist that a refusal names. */
const maxListed = 50;

function listAllowed(allowed: readonly string[]): string {
  const more = allowed.length - maxListed;
  return `${allowed.slice(0, maxListed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const fileCommands = new Set(["rm", "rmdir", "mv", "cp", "mkdir", "touch", "chmod", "sed", "tee"]);

/** Interpreters by the endings of their scripts. */
const interpreters: Readonly<Record<string, readonly string[]>> = {
  js: ["node", "bun"],
  mjs: ["node", "bun"],
  cjs: ["node", "bun"],
  ts: ["bun", "node"],
  py: ["python3", "python"],
  sh: ["sh", "bash"],
  rb: ["ruby"],
};

/** The variable that a word of a shell's line assigns. */
const assignment = /^([A-Za-z_]\w*)=/;

/** Returns the last component of a path, like Rust's `Path::file_name`. */
export const lastName = (path: string): string => path.replace(/\/+$/, "").split("/").at(-1) || path;

/** Returns whether a word assigns a variable, as before a command of a shell. */
export const isAssignment = (word: string): boolean => assignment.test(word);

/** Returns a sentence with the call that was most likely meant, or "". */
function insteadOf(name: string, allowed: readonly string[], maySet: (name: string) => boolean): string {
  const path = allowed.find((one) => one.startsWith("/") && one.endsWith(`/${name}`));
  if (path !== undefined) return ` Send ${shown(path)} as \`command\`.`;
  if (name === "cd") return " Instead of cd, send the folder as `cwd` of the command that is to run there.";
  if (fileCommands.has(name))
    return ` Instead of ${name}, call a function that changes files, or ask the user to allow ${name}.`;
  const [, assigned] = assignment.exec(name) ?? [];
  if (assigned !== undefined) return insteadOfAssigning(shown(assigned), allowed, maySet(assigned));
  if (name === "export" || name === "env")
    return " Send variables that the user allows in `env`, and the program as `command`.";
  if (/\S\s+\S/.test(name))
    return " With `args`, `command` is the name alone; without, it is the whole line.";
  const known = interpreters[/\.(\w+)$/.exec(name)?.[1] ?? ""] ?? [];
  const interpreter = known.find((one) => allowed.includes(one));
  return interpreter === undefined ? "" : ` Send ${interpreter} with the path of the script.`;
}

function insteadOfAssigning(variable: string, allowed: readonly string[], maySet: boolean): string {
  if (allowed.includes("env")) return ` Send env as \`command\`, and ${variable}=… as its first argument.`;
  if (maySet) return ` Send ${variable} in \`env\`, and the program as \`command\`.`;
  const shell = ["sh", "bash"].find((one) => allowed.includes(one));
  if (shell !== undefined)
    return ` Send ${shell} as \`command\`, and ["-c", LINE] with the whole line as \`args\`.`;
  return isSettable(variable)
    ? ` Send the program without ${variable}, or ask the user to add ${variable} to allowed_env.`
    : ` Send the program without ${variable}, which callers may not set.`;
}
