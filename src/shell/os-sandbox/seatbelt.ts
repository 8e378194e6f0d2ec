/** Profiles of macOS's sandbox, in its language, for sandbox-exec(1). */
import { isBelow } from "./grants.ts";
import type { FilePolicy } from "./ruleset.ts";

/** The program that runs another program under a profile. */
export const profileRunner = "/usr/bin/sandbox-exec";

/** Returns the arguments of `profileRunner` for a program. */
export const runnerArguments = (policy: FilePolicy, file: string, args: readonly string[]): string[] => [
  "-p",
  renderProfile(policy),
  file,
  ...args,
];

/**
 * Returns a profile that allows reading everything but denied entries, writing below the writable folders
 * except to kept entries and read-only folders, writing to the usual devices, and signalling only its own
 * processes. It denies the network unless the policy has it. The last rule that matches counts.
 */
export function renderProfile({ writable, readOnly = [], network, ...policy }: FilePolicy): string {
  const denied = [...policy.denied, ...(policy.findDenied?.() ?? [])];
  const kept = policy.findKept?.() ?? [];
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    `(allow file-write* ${writable.map(subpath).join(" ")} ${devices})`,
    ...readOnlyRules(writable, readOnly),
    ...(denied.length === 0 ? [] : [`(deny file-read* file-write* ${denied.map(subpath).join(" ")})`]),
    ...(kept.length === 0 ? [] : [`(deny file-write* ${kept.map(subpath).join(" ")})`]),
    "(deny signal)",
    "(allow signal (target same-sandbox))",
    "(deny process-info* (target others))",
    "(deny mach-priv*)",
    ...(network === "full" ? ["(deny network* (remote unix-socket))"] : ["(deny network*)"]),
  ].join("\n");
}

/** Returns the rules for read-only folders in writable ones, and for writable ones in these. */
const readOnlyRules = (writable: readonly string[], readOnly: readonly string[]): string[] =>
  readOnly
    .filter((path) => writable.some((folder) => isBelow(path, folder)) && !writable.includes(path))
    .toSorted()
    .flatMap((path) => [
      `(deny file-write* ${subpath(path)})`,
      ...writable
        .filter((inner) => isBelow(inner, path))
        .map((inner) => `(allow file-write* ${subpath(inner)})`),
    ]);

const devices =
  '(literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$") (literal "/dev/ptmx")';

const subpath = (path: string): string => `(subpath ${quote(path)})`;

/** Returns a string literal of the language (Scheme), with backslashes and quotes escaped. */
const quote = (text: string): string => `"${text.replace(/[\\"]/g, "\\$&")}"`;
