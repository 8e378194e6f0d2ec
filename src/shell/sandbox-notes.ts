/**
 * Names the rules of the sandbox that an output suggests a command has met: `listen EACCES` reads like a fault of the project. A note
 * says only what holds for every command, so it is true also where the program failed for another reason.
 */
import type { ConfinedRules } from "./command-rules.ts";

export interface NotedOutput {
  readonly stdout: string;
  readonly stderr: string;
}

/** Characters of each output's end that are read. */
const maxRead = 16 * 1024;

/** Maximum number of hidden files that are named. */
const maxNamed = 3;

/** How programs say EACCES, EPERM and EROFS. */
const refusal = /EACCES|EPERM|EROFS|permission denied|operation not permitted|read-only file system/i;

const listening = /\b(?:listen|bind|listener)\b/i;
const sockets = /\b(?:connect|socket)\b/i;
const signals = /\bkill(?:all|pg)?\b/;

/** How programs say that a host is not reached or has no address. */
const unreached =
  /ENETUNREACH|EHOSTUNREACH|EAI_AGAIN|ENOTFOUND|network is unreachable|no route to host|could not resolve host|name or service not known|temporary failure in name resolution/i;

/** How programs say that a port has no listener. */
const unanswered = /ECONNREFUSED|connection refused|failed to connect|couldn't connect/i;

/** A trace of Python, whose last line does not say what was refused. */
const pythonSocket = /socket(?:server)?\.py/;

/** Notes for the outputs of a command. `hidden` are the paths of files that are kept from it. */
export function sandboxNotes(
  { stdout, stderr }: NotedOutput,
  rules: ConfinedRules,
  hidden: readonly string[] = [],
): string[] {
  const text = `${stdout.slice(-maxRead)}\n${stderr.slice(-maxRead)}`;
  const isInPythonSocket = pythonSocket.test(text);
  const notes = text.split("\n").flatMap((line) => {
    if (!refusal.test(line)) return networkNotes(line, rules);
    if (listening.test(line)) return rules.network === "none" ? ["listening is not allowed"] : [];
    if (sockets.test(line) || (isInPythonSocket && line.includes("PermissionError")))
      return socketNotes(rules);
    if (signals.test(line)) return ["only processes of the same command are signalled"];
    return fileNotes(line, rules, hidden);
  });
  return [...new Set(notes)];
}

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

function fileNotes(line: string, { holdsFiles }: ConfinedRules, hidden: readonly string[]): string[] {
  if (!holdsFiles) return [];
  const named = hidden.filter((path) => line.includes(path.slice(path.lastIndexOf("/") + 1)));
  if (named.length > 0) return named.slice(0, maxNamed).map((path) => `${path} is hidden`);
  return line.includes("/") ? ["commands write below the served folder and $TMPDIR only"] : [];
}
