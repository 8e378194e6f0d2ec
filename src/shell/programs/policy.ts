/**
 * Decides which commands may run.
 *
 * The denylist matches the text of a command and is advisory: `sh -c` can express the same command in many
 * ways. The allowlist names files: the lookup of a bare name uses fixed folders, not the child's PATH, and
 * the file that was checked is the one that runs. It does not promise that an allowed program is harmless
 * with all its arguments; only for a few programs of the published list it checks those. A list with `sh` or
 * `env` allows everything.
 */

import { setImmediate } from "node:timers/promises";
import { findGuarded } from "./guarded-options.ts";
import { isAssignment, lastName, refusePlainly } from "./plain-refusal.ts";
import { findFile, findProgram, type Program, parseSearchPath, programFolders } from "./program.ts";
import { StartFailure } from "./start-failure.ts";
import type { Argv } from "./words.ts";

/** A compiled pattern of the denylist, in the dialect of Rust's crate `regex`. */
export interface DenylistPattern {
  /** The text of the pattern in the configuration. */
  readonly source: string;
  /** Returns whether it matches anywhere in `text`. */
  matches(text: string): boolean;
}

export interface PolicyRules {
  readonly denylist: readonly DenylistPattern[];
  /** Names or paths of programs. Default: `defaultAllowlist`. An empty list allows everything. */
  readonly allowlist: readonly string[] | undefined;
  /** Absolute folders to look up bare names in, before those of the operating system. */
  readonly programFolders: readonly string[];
  /** Canonical folders that callers can write in. The worker never runs programs from them. */
  readonly writableRoots: readonly string[];
  /** Returns whether callers may set a variable of this name. Default: any. */
  readonly maySet?: ((name: string) => boolean) | undefined;
  /** Whether refusals name a program by its path, if that was sent. Default: by the last name of it. */
  readonly namesPaths?: boolean;
  /** Makes the patterns ready, in parts that take up to 40 ms. */
  readonly preparations?: readonly (() => unknown)[];
}

/** The folder and the search path that a command would get. */
export interface ProgramContext {
  /** Absolute working folder of the child. */
  readonly folder: string;
  /** The child's PATH, which counts only if everything may run. */
  readonly path: string | undefined;
}

export interface Policy {
  /** Makes the patterns ready, each part in a turn of the event loop. A check does it at once otherwise. */
  prepare(): Promise<void>;
  /**
   * Checks the name alone, as for a program that runs on another machine: denylist, then allowlist
   * (shell §6.3). Throws a plain refusal.
   */
  validate(argv: Argv): void;
  /**
   * Checks the name, then finds the file and checks that. Throws a plain refusal, or a `StartFailure` if an
   * allowed command is missing.
   */
  admit(argv: Argv, context: ProgramContext): Program;
}

/** The list without a configured one: programs that mostly read (shell §3). */
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
      const name = isAssignment(argv[0]) ? argv[0] : nameFor(argv[0]);
      throw refusePlainly.notAllowed(name, allowlist, rules.maySet);
    }
  };

  const nameFor = (sent: string) => (rules.namesPaths ? sent : lastName(sent));

  const findListed = (name: string, { folder }: ProgramContext): string | undefined => {
    if (listed.has(name)) return name.includes("/") ? findFile(name, folder) : findProgram(name, folders);
    // Missing and other files get the same answer. Both the name and the file must be listed, because a file
    // with many names (busybox) acts by its name.
    const file = findProgram(lastName(name), folders);
    if (file === undefined || file !== findFile(name, folder)) throw refusePlainly.otherFile(nameFor(name));
    return file;
  };

  let prepared: Promise<void> | undefined;
  const prepare = async () => {
    for (const part of rules.preparations ?? []) {
      await setImmediate();
      part();
    }
  };

  return {
    prepare: () => (prepared ??= prepare()),
    validate,
    admit(argv, context) {
      validate(argv);
      if (isPublished) refuseGuarded(argv);
      const file = open ? findAnywhere(argv[0], context) : findListed(argv[0], context);
      if (file === undefined) throw new StartFailure("missing");
      if (rules.writableRoots.some((root) => lies(file, root)))
        throw refusePlainly.writable(nameFor(argv[0]));
      return { file, argv };
    },
  };
}

/**
 * Returns whether the list is the published one. An operator who configures another is expected to know what
 * its programs can do.
 */
export const isPublishedList = (list: readonly string[]) =>
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

const lies = (file: string, root: string) => file.startsWith(root.endsWith("/") ? root : `${root}/`);
