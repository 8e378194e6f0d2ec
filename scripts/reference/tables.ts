import { renderSchema } from "../../src/base/schema/json-schema.ts";
import type { FunctionDefinition, WorkerDefinition } from "../../src/calls/contract/definition.ts";
import { autorunFiles } from "../../src/filesystem/jail/autorun.ts";
import { toolName } from "../../src/transports/mcp/tools.ts";

/** The handwritten pages with a table, and their tables. */
const tables: Readonly<Record<string, (functions: readonly FunctionDefinition[]) => string>> = {
  "README.md": (functions) =>
    table(
      ["function", "does"],
      functions.map(({ id, summary, description }) => [link(id), summary ?? description]),
    ),
  "docs/mcp.md": (functions) =>
    table(["tool", "function", "read only", "destructive", "idempotent"], functions.map(describe)),
  "SECURITY.md": () =>
    table(
      ["files", "program", "acts on them"],
      autorunFiles.map(({ globs, program, effect }) => [
        globs.map((glob) => `\`${glob}\``).join(" "),
        program,
        effect,
      ]),
    ),
};

const begin = /<!-- The table of \w+ is written by `npm run reference`. -->\n/;
const end = /<!-- End of the table. -->\n/;

/** Returns those pages, by path, with tables made from the functions. `read` returns the text of a page. */
export function fillTables(
  { functions }: WorkerDefinition,
  read: (path: string) => string,
): [path: string, text: string][] {
  return Object.entries(tables).map(([path, render]) => {
    const [before, mark, rest] = split(read(path), begin, path);
    const [, endMark, after] = split(rest, end, path);
    return [path, `${before}${mark}\n${render(functions)}\n${endMark}${after}`];
  });
}

function split(text: string, pattern: RegExp, path: string): [before: string, mark: string, after: string] {
  const found = pattern.exec(text);
  if (found === null) throw new Error(`${path} has lost the line that matches ${pattern}`);
  const [mark] = found;
  return [text.slice(0, found.index), mark, text.slice(found.index + mark.length)];
}

const link = (id: string): string => `[\`${id}\`](docs/reference/${id.replaceAll("::", "-")}.md)`;

function describe(definition: FunctionDefinition): string[] {
  const { id, effect, isAdditive = false, isIdempotent = false } = definition;
  const isReading = effect === "reads";
  return [
    `\`${toolName(id)}\``,
    `\`${id}\``,
    yes(isReading),
    isReading || isAdditive ? "no" : destruction(definition),
    yes(isReading || isIdempotent),
  ];
}

/** Renders whether a function destroys data. One with a field `overwrite` does not by default. */
const destruction = ({ request }: FunctionDefinition): string =>
  JSON.stringify(renderSchema(request)).includes('"overwrite":') ? "yes, with `overwrite`" : "yes";

const yes = (is: boolean): string => (is ? "yes" : "no");

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
