/** Draws answers and errors for people at a terminal: with colours, in columns, and with relative times. */
import * as colours from "yoctocolors";
import { renderTable, type TableCell } from "./table.ts";
import { renderAge, renderDate, renderSize } from "./times.ts";
import { nameUndoCommands } from "./undo-commands.ts";

/** An answered call, with the text that every reader can get. */
export interface DrawnCall {
  readonly id: string;
  /** The payload as the function reads it. */
  readonly payload: unknown;
  readonly answer: unknown;
  /** The text of the answer, if its function has one. Characters that control a terminal are escaped. */
  readonly text: string | undefined;
  /** Escapes the characters of a text that control a terminal. */
  toVisible(text: string): string;
  /** The current time, in milliseconds. */
  readonly now: number;
}

/** Draws the text of an error: its code in red, and lines from files after their numbers. */
export const drawError = (text: string): string =>
  text
    .replace(/^[A-Z]\d{3}(?: \w+)?(?=:)/, (code) => colours.red(code))
    .replaceAll(/^\d+→/gm, (number) => colours.green(number));

type Drawing = (call: DrawnCall) => string | undefined;

/** Dims the lines in brackets that follow an answer. */
const dimNotes = (text: string): string => text.replaceAll(/^\[.*\]$/gm, (note) => colours.dim(note));

function drawCommand({ text }: DrawnCall): string | undefined {
  return text?.replace(/(?<=^|\n)\[[^\n]*\]\n*$/, (note) =>
    /^\[exit code 0,/.test(note) ? colours.dim(note) : colours.yellow(note),
  );
}

function drawMatches({ text, payload }: DrawnCall): string | undefined {
  const { query, regex } = payload as { readonly query?: unknown; readonly regex?: unknown };
  const literal = typeof query === "string" && query !== "" && regex !== true ? query : undefined;
  return text
    ?.split("\n")
    .map((line) => {
      const [, number, mark, rest] = /^(\d+)(→|-)(.*)$/s.exec(line) ?? [];
      if (line === "") return line;
      if (number === undefined) return /^\[.*\]$/.test(line) ? colours.dim(line) : colours.magenta(line);
      if (mark === "-") return colours.dim(line);
      const shown = literal === undefined ? rest! : rest!.replaceAll(literal, () => colours.red(literal));
      return `${colours.green(number)}${colours.dim("→")}${shown}`;
    })
    .join("\n");
}

const drawTree = ({ text }: DrawnCall): string | undefined =>
  text
    ?.replaceAll(/\[[^\]\n]*\]$/gm, (mark) => colours.dim(mark))
    .replaceAll(/[^ \n][^\n]*\/(?=$|\n| {2}|[ ]\S)/g, (folder) => colours.blue(folder));

interface ShownEntry {
  readonly name: string;
  readonly kind?: string;
  readonly is_dir?: boolean;
  readonly is_symlink?: boolean;
  readonly size: number;
  readonly mtime: number;
  readonly mode?: number | string;
  readonly non_accessible?: boolean;
}

/** Draws the entries of a folder in columns: mode, size, time of change, name. */
function drawFolder({ answer, text, toVisible, now }: DrawnCall): string | undefined {
  const { entries } = answer as { readonly entries?: readonly ShownEntry[] };
  if (entries === undefined) return text;
  if (entries.length === 0) return text ?? "[the folder is empty]\n";
  const rows = entries.map((entry): TableCell[] => {
    const isFolder = entry.kind === "dir" || entry.is_dir === true;
    const isLink = entry.kind === "symlink" || entry.is_symlink === true;
    const name = toVisible(entry.name).replaceAll("\n", "\\n");
    const { mode } = entry;
    return [
      ...(mode === undefined ? [] : [{ text: renderMode(mode), paint: colours.dim }]),
      { text: isFolder ? "-" : renderSize(entry.size), isNumber: true },
      { text: renderDate(entry.mtime * 1000) },
      { text: renderAge(entry.mtime * 1000, now), paint: colours.dim },
      {
        text: isFolder ? `${name}/` : isLink ? `${name}@` : name,
        paint: entry.non_accessible
          ? colours.dim
          : isFolder
            ? colours.blue
            : isLink
              ? colours.cyan
              : undefined,
      },
    ];
  });
  const notes = /^\[page .*\]$/m.exec(text ?? "")?.[0];
  return `${renderTable(rows)}\n${notes === undefined ? "" : `${colours.dim(notes)}\n`}`;
}

const renderMode = (mode: number | string): string =>
  typeof mode === "string" ? mode : mode.toString(8).padStart(4, "0");

/** Draws checkpoints with the age of each. */
const drawCheckpoints = ({ text, now }: DrawnCall): string | undefined =>
  text?.replaceAll(
    /^(#\d+) {2}(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)/gm,
    (_, number: string, day: string, time: string) => {
      const then = Date.parse(`${day}T${time}Z`);
      return `${colours.yellow(number)}  ${renderDate(then)} ${colours.dim(`(${renderAge(then, now)})`)}`;
    },
  );

/** Draws the matches of a pattern like those of a search. */
function drawGrep({ answer, toVisible }: DrawnCall): string | undefined {
  const { matches, truncated } = answer as {
    readonly matches?: readonly { readonly path: string; readonly line: number; readonly content: string }[];
    readonly truncated?: boolean;
  };
  if (matches === undefined) return undefined;
  const lines: string[] = [];
  let last: string | undefined;
  for (const { path, line, content } of matches) {
    if (path !== last) lines.push(...(last === undefined ? [] : [""]), colours.magenta(toVisible(path)));
    lines.push(`${colours.green(String(line))}${colours.dim("→")}${toVisible(content)}`);
    last = path;
  }
  if (matches.length === 0) lines.push(colours.dim("[no matches]"));
  if (truncated) lines.push(colours.dim("[there are more matches]"));
  return `${lines.join("\n")}\n`;
}

/** Draws a line for each file that was edited or could not be, and their sum. */
function drawReplacements({ answer, toVisible }: DrawnCall): string | undefined {
  const { results, total_replacements: total } = answer as {
    readonly results?: readonly {
      readonly path: string;
      readonly replacements: number;
      readonly success: boolean;
      readonly error?: string | null;
    }[];
    readonly total_replacements?: number;
  };
  if (results === undefined || total === undefined) return undefined;
  const lines = results.map(({ path, replacements, success, error }) =>
    success
      ? `${colours.magenta(toVisible(path))}: ${count(replacements, "replacement")}`
      : `${colours.magenta(toVisible(path))}: ${colours.red(toVisible(error ?? "failed"))}`,
  );
  return `${[...lines, colours.dim(`[${count(total, "replacement")} in all]`)].join("\n")}\n`;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

/**
 * Names the command that takes an undo back, where the text names the function. Its number is needed if the
 * worker takes each command line for another caller.
 */
function drawUndo({ text, answer }: DrawnCall): string | undefined {
  const { checkpoint } = answer as { readonly checkpoint?: number };
  const command = checkpoint === undefined ? "`coder undo`" : `\`coder undo ${checkpoint}\``;
  const named = text?.replace(/coder::undo with[a-z0-9 ]+(?= takes this undo back\.$)/m, () => command);
  return named && dimNotes(nameUndoCommands(named));
}

interface ShownJob {
  readonly id: string;
  readonly status: string;
  readonly started_at_ms: number;
  readonly exit_code?: number | null;
  readonly argv?: readonly string[];
}

function drawJobs({ answer, toVisible, now }: DrawnCall): string | undefined {
  const { jobs } = answer as { readonly jobs?: readonly ShownJob[] };
  if (jobs === undefined) return undefined;
  if (jobs.length === 0) return `${colours.dim("[no jobs]")}\n`;
  const rows = jobs.map(({ id, status, started_at_ms: started, exit_code: code, argv }): TableCell[] => [
    { text: id },
    {
      text: typeof code === "number" ? `${status} (${code})` : status,
      paint: code ? colours.red : colours.green,
    },
    { text: renderAge(started, now), paint: colours.dim },
    { text: toVisible((argv ?? []).join(" ")) },
  ]);
  return `${renderTable(rows)}\n`;
}

/** Draws the lines of unified diffs in red and green. */
function drawChanges({ text }: DrawnCall): string | undefined {
  if (text === undefined || !/^@@ /m.test(text)) return text && dimNotes(text);
  return text
    .split("\n")
    .map((line) => {
      if (/^(?:\+\+\+|---) /.test(line)) return colours.bold(line);
      if (line.startsWith("@@ ")) return colours.cyan(line);
      return line.startsWith("+") ? colours.green(line) : line.startsWith("-") ? colours.red(line) : line;
    })
    .join("\n");
}

/** Draws the fields of an answer that has no lists or objects, with times as people read them. */
function drawFields({ answer, toVisible, now }: DrawnCall): string | undefined {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return undefined;
  const fields = Object.entries(answer);
  if (fields.length === 0 || fields.some(([, value]) => typeof value === "object" && value !== null))
    return undefined;
  const rows = fields.map(([name, value]): TableCell[] => [
    { text: name, paint: colours.dim },
    { text: toVisible(renderField(name, value, now)) },
  ]);
  return `${renderTable(rows)}\n`;
}

function renderField(name: string, value: unknown, now: number): string {
  if (typeof value !== "number") return String(value);
  const time = name === "mtime" ? value * 1000 : name.endsWith("_at_ms") ? value : undefined;
  return time === undefined ? String(value) : `${renderDate(time)} (${renderAge(time, now)})`;
}

const drawings: Readonly<Record<string, Drawing>> = {
  // The contents of files and the outputs of commands are shown unchanged.
  "coder::read-file": ({ text }) => text,
  "shell::exec": drawCommand,
  "coder::search": drawMatches,
  "coder::tree": drawTree,
  "coder::list-folder": drawFolder,
  "coder::checkpoints": drawCheckpoints,
  "shell::fs::ls": drawFolder,
  "shell::fs::grep": drawGrep,
  "shell::fs::sed": drawReplacements,
  "shell::list": drawJobs,
  "coder::undo": drawUndo,
  "coder::update-file": drawChanges,
  "coder::apply-patch": drawChanges,
  "coder::transact": drawChanges,
};

/** Draws an answer. Returns `undefined` if JSON shows it best. */
export function draw(call: DrawnCall): string | undefined {
  const drawn = Object.hasOwn(drawings, call.id) ? drawings[call.id]!(call) : call.text;
  return drawn ?? drawFields(call);
}
