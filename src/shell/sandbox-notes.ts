/**
 * Names the rules of the sandbox that an output suggests a command has met: `listen EACCES` reads like a
 * fault of the project. A note only says what applies to every command, so it is true even if the program
 * failed for another reason.
 */
import { stripVTControlCharacters } from "node:util";
import type { Steps } from "../base/scheduling/time-slice.ts";
import type { ConfinedRules } from "./command-rules.ts";
import { type HiddenNames, maxNamed, separators } from "./hidden-names.ts";

export interface NotedOutput {
  readonly stdout: string;
  readonly stderr: string;
}

/** The number of characters that are read, at the end of each output. */
const maxRead = 16 * 1024;

/** Maximum notes on one output, besides the line that counts the others. */
const maxNotes = 8;

/** The texts of EACCES, EPERM and EROFS. */
const refusal = /EACCES|EPERM|EROFS|permission denied|operation not permitted|read-only file system/i;

/** The texts of EROFS and EBUSY, the errors of a change of a mount. */
const mounted = /EROFS|EBUSY|read-only file system|resource busy/i;

const busy = /EBUSY|resource busy/i;
const readOnlySystem = /EROFS|read-only file system/i;

/** The texts of EXDEV, the error of a rename or a hard link out of a mount or into one. */
const crossing = /EXDEV|cross-device link/i;
const removing = /\b(?:remove|rm|rmdir|unlink|rmtree|delete)\b/i;

const listening = /\b(?:listen|bind|listener)\b/i;
const sockets = /\b(?:connect|socket)\b/i;

/** A line of a program that only reads, or about a file that was only to be read. */
const reading =
  /^(?:cat|head|tail|wc|sort|uniq|cut|grep|rg|jq|find|ls|du|stat|file|cmp|diff|strings|base64|xxd|od|\w+sum): |cannot (?:open|access|stat|read)\b/;

/** A path of another process in proc(5). */
const process = /\/proc\/\d+\//;

const signals = /\bkill(?:all|pg)?\b/;

/** The texts of errors for a host that cannot be reached or has no address. */
const unreached =
  /ENETUNREACH|EHOSTUNREACH|EAI_AGAIN|ENOTFOUND|network is unreachable|no route to host|could not resolve host|name or service not known|temporary failure in name resolution/i;

/** The texts of errors for a port without a listener. */
const unanswered = /ECONNREFUSED|connection refused|failed to connect|couldn't connect/i;

/** A trace of Python, whose last line does not say what was refused. */
const pythonSocket = /socket(?:server)?\.py/;

/**
 * The paths that a command cannot read, and those that it cannot change: relative in the served folder,
 * absolute elsewhere.
 */
export interface GuardedNames {
  /** The folders that a command writes, as part of a sentence. */
  readonly written: string;
  readonly hidden: HiddenNames;
  readonly kept?: readonly string[];
  /** Returns the rule that keeps a path from being changed. Default: "autorun". */
  readonly keptBy?: ((kept: string) => KeptBy) | undefined;
  /** Returns the call that removes a folder around a path that commands cannot change, if one does. */
  readonly removalOf?: ((kept: string) => Steps<FolderRemoval | undefined>) | undefined;
  /** The read-only roots in writable ones, by their paths in those. */
  readonly nestedRoots?: readonly string[] | undefined;
  /** Returns the name of a path in the folder of the command. Default: the path. */
  readonly nameOf?: ((path: string) => string) | undefined;
}

/**
 * The reason why commands cannot change a path: other programs act on it by themselves, the user's
 * `write_deny_globs`, or that it is the configuration of the server.
 */
export type KeptBy = "autorun" | "globs" | "configuration";

export interface FolderRemoval {
  readonly folder: string;
  /** The id of the function. */
  readonly call: string;
}

/** Returns notes for the outputs of a command, at most one line in each step. */
export function* sandboxNotes(
  { stdout, stderr }: NotedOutput,
  rules: ConfinedRules,
  guarded: GuardedNames,
): Steps<string[]> {
  const text = stripVTControlCharacters(`${stdout.slice(-maxRead)}\n${stderr.slice(-maxRead)}`);
  const isInPythonSocket = pythonSocket.test(text);
  const isInGitRefusal = gitRefusal.test(text);
  const notes = new Set<string>();
  for (const line of text.split("\n")) {
    const refused = mounted.test(line)
      ? [...(yield* hiddenNotes(line, guarded.hidden)), ...(yield* keptNotes(line, guarded))]
      : [];
    const noted = { rules, guarded, isInPythonSocket, isInGitRefusal };
    const found = refused.length > 0 ? refused : yield* ruleNotes(line, noted);
    for (const note of found) notes.add(note);
    yield;
  }
  if (notes.size > 0 && stoppedGit.test(text)) notes.add(stoppedNote);
  const [more, shown] = [notes.size - maxNotes, [...notes].slice(0, maxNotes)];
  return more > 0 ? [...shown, `the same holds for ${more} more paths of the output`] : shown;
}

interface NotedRules {
  readonly rules: ConfinedRules;
  readonly guarded: GuardedNames;
  readonly isInPythonSocket: boolean;
  readonly isInGitRefusal: boolean;
}

/** The error of git before the names of changed files, each on a line that begins with a tab. */
const gitRefusal = /^error: Your local changes to the following files would be overwritten by /m;

/** A line of git for a changed file: of a status, of a checkout, and of its refusal. */
const changedFile = /^(?: M |M\t|\tmodified: +)(.+)$/;
const refusedFile = /^\t(.+)$/;

/**
 * Returns a note on a hidden file that git takes for changed. A mask has the size of its file, which git
 * compares with the recorded one before it reads anything.
 */
function changedNotes(line: string, { guarded: { hidden, nameOf = plainly }, isInGitRefusal }: NotedRules) {
  const [, path] = changedFile.exec(line) ?? ((isInGitRefusal && refusedFile.exec(line)) || []);
  if (path === undefined || !(hidden.has(path) || hidden.has(nameOf(path)))) return [];
  return [
    `${path} is hidden, and git takes it for changed because its size is not the recorded one: git add ${path} corrects that, and changes neither the file nor what is recorded`,
  ];
}

/** The errors of git for a checkout that a hidden file has stopped in the middle. */
const stoppedGit =
  /^error: unable to unlink old .*resource busy\n(?:error|fatal): could not (?:detach HEAD|reset index file)/im;

const stoppedNote =
  "git stopped in the middle, at a hidden file: git status shows what it had changed by then";

/** The line of git for a hidden file without recorded content: the filter of `hidden-files.ts` fails. */
const unfiltered = /^fatal: (.+): clean filter 'hidden-file' failed$/;

function* ruleNotes(line: string, noted: NotedRules): Steps<string[]> {
  const { rules, guarded, isInPythonSocket } = noted;
  const changed = changedNotes(line, noted);
  if (changed.length > 0) return changed;
  const [, path] = unfiltered.exec(line) ?? [];
  if (path !== undefined)
    return [`${path} is hidden: git cannot add, stash or compare it; git stash -u, unlike -a, leaves it out`];
  if (crossing.test(line) && rules.keepsFiles) return [edgeNote];
  if (!refusal.test(line)) return networkNotes(line, rules);
  if (listening.test(line)) return rules.network === "none" ? ["listening is not allowed"] : [];
  if (sockets.test(line) || (isInPythonSocket && line.includes("PermissionError"))) return socketNotes(rules);
  if (signals.test(line)) return ["only processes of the same command are signalled"];
  return yield* fileNotes(line, rules, guarded);
}

const edgeNote =
  "no rename or hard link leads into or out of a folder that holds hidden or read-only files or a root: copy the file and remove the old one, as mv does";

/** The operators between the commands of a shell's line. */
const operators = /\|\|?|&&?|;|\n/;

const isRecursive = (word: string): boolean => /^(?:-\w*[rR]\w*|--(?:dereference-)?recursive)$/.test(word);

const isArchive = (word: string): boolean => /^(?:-\w*a\w*|--archive)$/.test(word);

/** Returns whether a command copies or packs the folders that it names. */
function takesFolders(name: string, words: readonly string[]): boolean {
  switch (name) {
    case "cp":
    case "rsync":
      return words.some((word) => isRecursive(word) || isArchive(word));
    case "zip":
      return words.some(isRecursive);
    case "tar":
      return words.includes("--create") || /^-?\w*c/.test(words[0] ?? "");
    default:
      return false;
  }
}

/** Returns the folders whose files a command reads: to search them, or to copy or pack them. */
function readBy([program = "", ...words]: readonly string[]): string[] {
  const name = program.slice(program.lastIndexOf("/") + 1);
  const isSearch = /^[ef]?grep$/.test(name) ? words.some(isRecursive) : name === "git" && words[0] === "grep";
  if (!isSearch && !takesFolders(name, words)) return [];
  const named = words.filter((word) => !word.startsWith("-"));
  if (!isSearch) return named.map(plainly);
  const [, ...folders] = name === "git" ? named.slice(1) : named;
  return folders.length === 0 ? ["."] : folders.map(plainly);
}

const wordsOf = (text: string): string[] => text.split(/[\s'"`()<>|;&=]+/).filter((word) => word !== "");

const plainly = (word: string): string => word.replace(/^\.\/(?=.)|(?<=.)\/$/g, "");

/** The words, or commands, of a command line that one step reads. */
const wordsPerStep = 512;

/**
 * Returns notes for hidden files that a command line names, or that are in folders it reads. A command of
 * root reads blank lines from them, without an error. `nameOf` returns the name of a path in the folder of
 * the command.
 */
export function* hiddenInArguments(
  argv: readonly string[],
  hidden: HiddenNames,
  nameOf: (path: string) => string = (path) => path,
): Steps<string[]> {
  if (hidden.depth === 0) return [];
  const found = new Set<string>();
  let steps = 0;
  for (const arg of argv) {
    for (const word of wordsOf(arg)) {
      const path = plainly(word);
      const name = mayBeHidden(path, hidden) ? nameOf(path) : path;
      if (hidden.has(name)) found.add(name);
      if (++steps % wordsPerStep === 0) yield;
    }
  }
  for (const command of commandsIn(argv)) {
    if (++steps % wordsPerStep === 0) yield;
    for (const folder of new Set(readBy(command))) {
      for (const path of hidden.below(nameOf(folder))) found.add(path);
      if (++steps % wordsPerStep === 0) yield;
    }
  }
  const notes = firstOf([...found]).map(sayHidden);
  return found.size > maxNamed ? [...notes, "more files there are hidden like these"] : notes;
}

/** Yields a command line, and the commands in each of its arguments, as a shell reads them. */
function* commandsIn(argv: readonly string[]): Generator<readonly string[]> {
  yield argv;
  for (const arg of argv.slice(1)) for (const line of arg.split(operators)) yield wordsOf(line);
}

/** Returns whether a word may name a hidden file below the served folder. Resolving it takes much longer. */
function mayBeHidden(word: string, hidden: HiddenNames): boolean {
  const last = word.slice(word.lastIndexOf("/") + 1);
  return ["", ".", ".."].includes(last) || hidden.named(last).length > 0;
}

/** Maximum words whose links are followed, among the first `maxRead` characters of a command line. */
const maxFollowed = 1000;

/**
 * Returns notes for hidden files that a command line names by a link, or that are in a folder it reads by
 * one. `linkedTo` returns the names that the links in a word lead to. Each step follows those of one word.
 */
export function* hiddenBehindLinks(
  argv: readonly string[],
  hidden: HiddenNames,
  linkedTo: (path: string) => readonly string[],
): Steps<string[]> {
  if (hidden.depth === 0) return [];
  const found = new Set<string>();
  const read = firstCharacters(argv);
  const folders = new Set([...commandsIn(read)].flatMap(readBy));
  const words = read.flatMap(wordsOf).map(plainly);
  for (const word of [...new Set([...folders, ...words])].slice(0, maxFollowed)) {
    for (const name of linkedTo(word)) {
      if (hidden.has(name)) found.add(name);
      if (folders.has(word)) for (const path of hidden.below(name)) found.add(path);
    }
    yield;
  }
  return firstOf([...found]).map(sayHidden);
}

function firstCharacters(argv: readonly string[]): string[] {
  let room = maxRead;
  const read: string[] = [];
  for (const arg of argv) {
    if (room <= 0) break;
    read.push(arg.slice(0, room));
    room -= arg.length + 1;
  }
  return read;
}

const sayHidden = (path: string): string => `${path} is hidden: commands do not find its content there`;

/**
 * Returns the note on a hidden file, with advice for programs such as Vite, which end if they cannot read the
 * file.
 */
const sayRefused = (path: string): string =>
  `${sayHidden(path)}; a program that ends because of that needs another folder for such files (Vite: envDir)`;

const socketNotes = ({ network }: ConfinedRules): string[] =>
  network === "none"
    ? ["listening and connecting are not allowed"]
    : ["sockets of other programs are out of reach"];

function networkNotes(line: string, { network }: ConfinedRules): string[] {
  if (network === "full") return [];
  if (unreached.test(line))
    return [network === "none" ? "there is no network" : "no host but 127.0.0.1 and ::1 is reached"];
  if (!unanswered.test(line)) return [];
  return [
    network === "none"
      ? "there is no network, not even on loopback"
      : "on 127.0.0.1 and ::1 only servers that commands have started are reached",
  ];
}

/** Returns notes for the hidden files in a line of output, which a command cannot change. */
function* hiddenNotes(line: string, hidden: HiddenNames): Steps<string[]> {
  const named = yield* namedIn(line, hidden);
  return named.map((path) => `${path} is hidden: commands do not change, move or remove it`);
}

/** Returns the hidden files that a line names as a whole, or else those whose last name it has. */
function* namedIn(line: string, hidden: HiddenNames): Steps<string[]> {
  const words = line
    .split(separators)
    .flatMap((word) => (word.endsWith(".") ? [word, word.slice(0, -1)] : [word]));
  const whole = words.flatMap((word) => wholeIn(word, hidden) ?? []);
  if (whole.length > 0) return firstOf(whole);
  const names = words.flatMap((word) => word.split("/"));
  for (const [index, name] of hidden.separated.entries()) {
    if (line.includes(name)) names.push(name);
    if (index % wordsPerStep === wordsPerStep - 1) yield;
  }
  return firstOf(names.flatMap(hidden.named));
}

/**
 * Returns the hidden file with the longest path that a word ends with, or an absolute one that it begins
 * with.
 */
function wholeIn(word: string, hidden: HiddenNames): string | undefined {
  const isAbsolute = word.startsWith("/");
  if (!isAbsolute && hidden.named(word.slice(word.lastIndexOf("/") + 1)).length === 0) return undefined;
  let longest: string | undefined;
  for (let [slash, names] = [word.length, 0]; slash >= 0 && names < hidden.depth; names++) {
    slash = slash === 0 ? -1 : word.lastIndexOf("/", slash - 1);
    const end = word.slice(slash + 1);
    if (hidden.has(end)) longest = end;
  }
  if (longest !== undefined || !isAbsolute) return longest;
  for (let [slash, names] = [0, 1]; slash >= 0 && names < hidden.depth; names++) {
    slash = word.indexOf("/", slash + 1);
    const begin = slash < 0 ? word : word.slice(0, slash);
    if (hidden.has(begin)) return begin;
  }
  return undefined;
}

const firstOf = (paths: readonly string[]): string[] => [...new Set(paths)].slice(0, maxNamed);

const reasons: Readonly<Record<KeptBy, string>> = {
  autorun: "is read-only for commands, since other programs act on it by themselves",
  globs: "is read-only for commands, since the user's write_deny_globs cover it",
  configuration: "is read-only for commands, since it configures this server",
};

/** Returns notes for the files and folders in a line of output that a command cannot change. */
function* keptNotes(line: string, guarded: GuardedNames): Steps<string[]> {
  const { kept = [], keptBy = () => "autorun", removalOf } = guarded;
  const names = new Set(line.split(/[\s/:;,'"`()<>]+/));
  const named = kept.filter((path) => names.has(path.slice(path.lastIndexOf("/") + 1)));
  if (named.length === 0 && busy.test(line)) return yield* holderNotes(line, guarded);
  const notes: string[] = [];
  for (const path of named.slice(0, maxNamed)) {
    const removal = removing.test(line) && removalOf ? yield* removalOf(path) : undefined;
    notes.push(sayKept(path, keptBy(path), removal));
  }
  return notes;
}

function sayKept(path: string, by: KeptBy, removal: FolderRemoval | undefined): string {
  const reason = reasons[by];
  if (removal !== undefined) return `${path} ${reason}; ${removalSentence(removal)}`;
  if (by === "configuration") return `${path} ${reason}`;
  const isOfGit = `/${path}`.endsWith("/.git/config");
  const another = isOfGit ? "; git -c KEY=VALUE sets it for one command, git config --global for all" : "";
  return `${path} ${reason}${another}; the user can open it with write_allow_globs`;
}

/**
 * Returns notes for a folder in a line of output that cannot be moved or removed, because of files in it. One
 * kept path, or root, is compared in each step.
 */
function* holderNotes(
  line: string,
  {
    hidden,
    kept = [],
    keptBy = () => "autorun",
    removalOf,
    nestedRoots = [],
    nameOf = plainly,
  }: GuardedNames,
): Steps<string[]> {
  const split = line.split(/[\s:;,'"`()<>]+/).map(plainly);
  const words = [...new Set(split)].filter((word) => word !== "" && word !== ".");
  const parts = words.map((word) => `/${word}/`);
  for (const path of kept) {
    const above = `/${path}`;
    if (parts.some((part) => above.includes(part))) {
      const removal = removalOf && (yield* removalOf(path));
      const another = removal ? `; ${removalSentence(removal)}` : "";
      return [`${path} ${reasons[keptBy(path)]}, and so the folders above it cannot be moved${another}`];
    }
    yield;
  }
  const folders = [...new Set([...words, ...words.map(nameOf)])].filter((name) => name !== ".");
  const names = folders.map((folder) => `/${folder}/`);
  for (const root of nestedRoots) {
    const path = `/${root}/`;
    if (names.some((name) => path.includes(name)))
      return [`${root} is a read-only root, and so neither it nor ${cannotMove}`];
    yield;
  }
  const [inside] = folders.flatMap(hidden.below);
  return inside === undefined ? [] : [`${inside} is hidden, and so neither it nor ${cannotMove}`];
}

const cannotMove = "the folders above it can be moved or removed";

const removalSentence = ({ folder, call }: FolderRemoval): string =>
  `${call} with \`recursive\` removes ${JSON.stringify(folder)} as a whole`;

function* fileNotes(
  line: string,
  { holdsFiles }: ConfinedRules,
  { hidden, written }: GuardedNames,
): Steps<string[]> {
  if (!holdsFiles) return [];
  const isRead = reading.test(line);
  const named = yield* namedIn(line, hidden);
  if (named.length > 0)
    return named.map((path) => (isRead || path.startsWith("/") ? sayHidden : sayRefused)(path));
  if (process.test(line)) return ["nothing of other processes is read"];
  const isOfWriting = readOnlySystem.test(line) || (line.includes("/") && !isRead);
  return isOfWriting ? [`commands write below ${written}`] : [];
}
