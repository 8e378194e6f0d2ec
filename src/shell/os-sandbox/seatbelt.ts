/** Profiles of macOS's sandbox, in its language, for sandbox-exec(1). */
import type { FilePolicy } from "./ruleset.ts";

/** The program that runs another one under a profile. */
export const profileRunner = "/usr/bin/sandbox-exec";

/** The arguments of `profileRunner` for a program. */
export const runnerArguments = (policy: FilePolicy, file: string, args: readonly string[]): string[] => [
  "-p",
  renderProfile(policy),
  file,
  ...args,
];

/**
 * A profile: reads everything but what is denied, writes below the writable folders, but not what is kept,
 * and to the usual devices, signals only what runs under it, and reaches nothing by network unless the policy
 * has it. The last rule that fits counts.
 */
export function renderProfile({ writable, network, ...policy }: FilePolicy): string {
  const denied = [...policy.denied, ...(policy.findDenied?.() ?? [])];
  const kept = policy.findKept?.() ?? [];
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    `(allow file-write* ${writable.map(subpath).join(" ")} ${devices})`,
    ...(denied.length === 0 ? [] : [`(deny file-read* file-write* ${denied.map(subpath).join(" ")})`]),
    ...(kept.length === 0 ? [] : [`(deny file-write* ${kept.map(subpath).join(" ")})`]),
    "(deny signal)",
    "(allow signal (target same-sandbox))",
    "(deny process-info* (target others))",
    "(deny mach-priv*)",
    ...(network === "full" ? ["(deny network* (remote unix-socket))"] : ["(deny network*)"]),
  ].join("\n");
}

const devices =
  '(literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$") (literal "/dev/ptmx")';

const subpath = (path: string): string => `(subpath ${quote(path)})`;

/** A string of the language (Scheme): backslashes and quotes are escaped. */
const quote = (text: string): string => `"${text.replace(/[\\"]/g, "\\$&")}"`;
