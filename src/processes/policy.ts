/**
 * Which commands may run.
 *
 * The denylist sees the text of a command and is advice only: `sh -c` spells the same thing in a thousand ways. The
 * allowlist names files: a bare name is looked up in fixed folders, not in the child's PATH, and what is run is the
 * file that was judged. Not promised: that an allowed program does no harm with its arguments; only
 * of the published list a few are guarded. A list that holds `sh` or `env` allows everything.
 */

import { findGuarded } from "./guarded-options.ts";
import { refusePlainly } from "./plain-refusal.ts";
import { findFile, findProgram, type Program, parseSearchPath, programFolders } from "./program.ts";
import { StartFailure } from "./start-failure.ts";
import type { Argv } from "./words.ts";

/** A compiled pattern of the denylist, in the dialect of Rust's crate `regex`. */
export interface DenylistPattern {
  /** The pattern as it was configured. */
  readonly source: string;
  /** Whether it matches anywhere in `text`. */
  matches(text: string): boolean;
}

export interface PolicyRules {
  readonly denylist: readonly DenylistPattern[];
  /** Names or paths of programs. Undefined means `defaultAllowlist`; empty means that everything may run. */
  readonly allowlist: readonly string[] | undefined;
  /** Absolute folders to look up bare names in, before those of the operating system. */
  readonly programFolders: readonly string[];
  /** Canonical folders that callers can write in: nothing in them is ever run by this worker. */
  readonly writableRoots: readonly string[];
}

/** Where a command would run. */
export interface ProgramContext {
  /** Absolute working folder of the child. */
  readonly folder: string;
  /** The child's PATH, which counts only if everything may run. */
  readonly path: string | undefined;
}

export interface Policy {
  /**
   * Judges by name only, as for a program that runs on another machine: denylist, then allowlist (shell §6.3). Throws a plain refusal.
   */
  validate(argv: Argv): void;
  /**
   * Judges by name, then finds the file and judges that. Throws a plain refusal, or a `StartFailure` when a command
   * that may run is not there.
   */
  admit(argv: Argv, context: ProgramContext): Program;
}

/** The list that holds when none is configured: programs that mostly read (shell §3). */
export const defaultAllowlist: readonly string[] =
  "ls cat pwd echo grep wc head tail sort uniq cut date whoami hostname which jq uname df du ps printenv basename dirname".split(
    " ",
  );

export function makePolicy(rules: PolicyRules): Policy {
  const allowlist = rules.allowlist ?? defaultAllowlist;
  const listed = new Set(allowlist);
  const folders = [...rules.programFolders, ...programFolders];
  const open = listed.size === 0;
  const isPublished = isPublishedList(allowlist);

  const validate = (argv: Argv) => {
    const line = argv.join(" ");
    const match = rules.denylist.find((pattern) => pattern.matches(line));
    if (match !== undefined) throw refusePlainly.denylisted(match.source);
    if (!open && !listed.has(argv[0]) && !listed.has(lastName(argv[0]))) {
      throw refusePlainly.notAllowed(lastName(argv[0]), allowlist);
    }
  };

  const findListed = (name: string, { folder }: ProgramContext): string | undefined => {
    if (listed.has(name)) return name.includes("/") ? findFile(name, folder) : findProgram(name, folders);
    // Missing and foreign files get one answer. The name has to be the listed one as well as the file: a file with
    // many names (busybox) does what its name says.
    const file = findProgram(lastName(name), folders);
    if (file === undefined || file !== findFile(name, folder)) throw refusePlainly.otherFile(lastName(name));
    return file;
  };

  return {
    validate,
    admit(argv, context) {
      validate(argv);
      if (isPublished) refuseGuarded(argv);
      const file = open ? findAnywhere(argv[0], context) : findListed(argv[0], context);
      if (file === undefined) throw new StartFailure("missing");
      if (rules.writableRoots.some((root) => lies(file, root)))
        throw refusePlainly.writable(lastName(argv[0]));
      return { file, argv };
    },
  };
}

/** An operator who writes a list of his own knows what its programs can do. */
const isPublishedList = (list: readonly string[]) =>
  list.length === defaultAllowlist.length && defaultAllowlist.every((name) => list.includes(name));

function refuseGuarded(argv: Argv): void {
  const name = lastName(argv[0]);
  const argument = findGuarded(name, argv);
  if (argument !== undefined) throw refusePlainly.guarded(name, argument);
}

function findAnywhere(name: string, { folder, path }: ProgramContext): string | undefined {
  if (name.includes("/")) return findFile(name, folder);
  return findProgram(name, path === undefined ? programFolders : parseSearchPath(path));
}

/** The last component of a path, as in Rust's `Path::file_name`. */
const lastName = (path: string) => path.replace(/\/+$/, "").split("/").at(-1) || path;

const lies = (file: string, root: string) => file.startsWith(root.endsWith("/") ? root : `${root}/`);
