/**
 * Names the rules of the sandbox that an output suggests a command has met: `listen EACCES` reads like a fault of the project. A note
 * says only what holds for every command, so it is true also where the program failed for another reason.
 */
import type { ConfinedRules } from "./command-rules.ts";

export interface NotedOutput {
  readonly stdout: string;
  readonly stderr: string;
}

interface Symptom {
  readonly pattern: RegExp;
  note(rules: ConfinedRules, match: RegExpExecArray): string | undefined;
}

/** How programs say EACCES, EPERM and EROFS. */
const refused =
  "(?:EACCES|EPERM|EROFS|[Pp]ermission denied|[Oo]peration not permitted|Read-only file system)";

const symptoms: readonly Symptom[] = [
  {
    pattern: new RegExp(
      String.raw`\b(?:listen|bind|bind\(\)|Listener)\b.{0,80}${refused}|${refused}.{0,80}\b(?:listen|bind)\b`,
    ),
    note: ({ network }) => (network === "none" ? "listening is not allowed" : undefined),
  },
  {
    pattern: new RegExp(
      String.raw`\b(?:connect|socket|socket\(\))\b.{0,80}${refused}|socket\.py.{0,400}PermissionError|${refused}.{0,80}\b(?:connect|socket)\b`,
      "s",
    ),
    note: ({ network }) =>
      network === "none" ? "connecting is not allowed" : "sockets of other programs are out of reach",
  },
  {
    pattern:
      /ENETUNREACH|[Nn]etwork is unreachable|EAI_AGAIN|ENOTFOUND|[Cc]ould not resolve host|[Nn]ame or service not known|[Tt]emporary failure in name resolution|[Nn]o route to host|EHOSTUNREACH/,
    note: ({ network }) => {
      if (network === "full") return undefined;
      return network === "none" ? "there is no network" : "no host but 127.0.0.1 and ::1 is reached";
    },
  },
  {
    pattern: /ECONNREFUSED|[Cc]onnection refused/,
    note: ({ network }) =>
      network === "loopback"
        ? "on 127.0.0.1 and ::1 only servers that commands have started are reached"
        : undefined,
  },
  {
    pattern: new RegExp(String.raw`\bkill(?:all|pg)?\b.{0,80}${refused}`),
    note: () => "only processes of the same command are signalled",
  },
];

/** Characters of each output's end that are read. */
const maxRead = 16 * 1024;

/** Notes for the outputs of a command that is confined by these rules. `hidden` are names of files that are kept from it. */
export function notesOn(
  { stdout, stderr }: NotedOutput,
  rules: ConfinedRules,
  hidden: readonly string[] = [],
): string[] {
  const text = `${stdout.slice(-maxRead)}\n${stderr.slice(-maxRead)}`;
  const notes = symptoms.flatMap(({ pattern, note }) => {
    const match = pattern.exec(text);
    return (match && note(rules, match)) ?? [];
  });
  return [...new Set([...notes, ...fileNotes(text, rules, hidden)])];
}

const fileRefusal = new RegExp(refused);

/** About lines that refuse a file: one that is hidden, or something else. */
function fileNotes(text: string, { holdsFiles }: ConfinedRules, hidden: readonly string[]): string[] {
  if (!holdsFiles) return [];
  const lines = text.split("\n").filter((line) => fileRefusal.test(line) && !aboutOthers.test(line));
  const named = hidden.filter((name) => lines.some((line) => line.includes(name)));
  const isElsewhere = lines.some((line) => line.includes("/") && !named.some((name) => line.includes(name)));
  return [
    ...named.map((name) => `${name} is hidden`),
    ...(isElsewhere ? ["commands write below the served folder and $TMPDIR only"] : []),
  ];
}

/** Lines about sockets and processes. */
const aboutOthers = /\b(?:listen|bind|connect|socket|kill)\b/;

/** The notes as the last lines of a text. */
export const renderNotes = (notes: readonly string[]): string[] => notes.map((note) => `[sandbox: ${note}]`);
