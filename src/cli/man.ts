/** `coder --man`: the manual page, from the table of flags and the help. */
import { about, descriptions, type WorkerName } from "../base/about.ts";
import { flagNames, flags } from "../config/arguments/flags.ts";
import { renderHelp } from "../config/arguments/help.ts";

/** Renders the page in the man macros of roff. */
export function renderManual(worker: WorkerName): string {
  const help = renderHelp(worker);
  const basePathKey = worker === "coder" ? "base_path" : "fs.host_root";
  const options = flagNames.map((name) => {
    const { short, value, help: text } = flags[name];
    const names = [...(short === undefined ? [] : [`-${short}`]), `--${name}`].map(
      (word) => `\\fB${escapeRoff(word)}\\fR`,
    );
    const label = `${names.join(", ")}${value === undefined ? "" : ` \\fI${escapeRoff(value)}\\fR`}`;
    return `.TP\n${label}\n${paragraph(typeof text === "string" ? text : text({ basePathKey }))}\n`;
  });
  const variables = flagNames.flatMap((name) =>
    (flags[name].environment ?? []).map(
      (variable) => `.TP\n\\fB${variable.name}\\fR\nThe default of \\fB${escapeRoff(`--${name}`)}\\fR.\n`,
    ),
  );
  return `.TH ${worker.toUpperCase()} 1 "" "${about.name} ${about.version}" "User Commands"
.SH NAME
${worker} \\- ${escapeRoff(descriptions[worker])}
.SH SYNOPSIS
${block(sectionOf(help, "Usage"))}.SH OPTIONS
${options.join("")}.SH ENVIRONMENT
${variables.join("")}.SH EXIT STATUS
${block(sectionOf(help, "Exit status"))}.SH EXAMPLES
${block(sectionOf(help, "Examples"))}`;
}

/** Returns the lines of a section of the help. */
function sectionOf(help: string, title: string): string {
  const [, after = ""] = help.split(`\n${title}\n`);
  return after.split(/\n\n|\n$/, 1)[0] ?? "";
}

/** Renders lines that are not filled, without their common indentation. */
const block = (text: string): string =>
  `.nf\n${text
    .split("\n")
    .map((line) => escapeLine(line.replace(/^ {2}/, "")))
    .join("\n")}\n.fi\n`;

const paragraph = (text: string): string => text.split("\n").map(escapeLine).join("\n");

/** Escapes the characters that roff interprets, and the dashes that a reader copies. */
const escapeRoff = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("…", "\\&...")
    .replaceAll("'", "\\(aq")
    .replaceAll('"', "\\(dq");

const escapeLine = (line: string): string => escapeRoff(line).replace(/^[.']/, "\\&$&");
