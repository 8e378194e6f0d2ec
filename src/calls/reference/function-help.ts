/** The help of functions at the command line, made from their definitions. */
import type { TObject } from "@sinclair/typebox";
import { defaultUrl } from "../../base/about.ts";
import type { Example, FunctionDefinition } from "../contract/definition.ts";
import { describeField, objectsIn, renderDefault, renderType, titleOf } from "./fields.ts";
import { wrapText } from "./wrap-text.ts";

interface HelpOptions {
  /** The name that the program was called by. */
  readonly program: string;
  /** Maximum columns of a line. */
  readonly columns: number;
}

/** Renders the fields of a function, with their defaults, and calls to paste. */
export function renderFunctionHelp(definition: FunctionDefinition, options: HelpOptions): string {
  const { id, description, effect, request, examples } = definition;
  const { columns } = options;
  return [
    wrapText(`${id} - ${description}`, columns),
    effect === "reads" ? "It changes nothing." : "It can change files.",
    "",
    "Fields",
    ...renderFields(request as TObject, columns, "  "),
    "",
    "Examples",
    ...examples.flatMap((example) => [
      `  ${example.title}:`,
      `    ${commandFor(definition, example, options)}`,
    ]),
    "",
  ].join("\n");
}

/** Renders a table of functions. */
export function listFunctions(
  functions: readonly FunctionDefinition[],
  { program, columns }: HelpOptions,
): string {
  const longest = Math.max(...functions.map(({ id }) => shortName(id).length));
  const rows = functions.map(({ id, summary, brief, description }) => {
    const text = summary ?? firstSentence(brief ?? description);
    return `  ${shortName(id).padEnd(longest)}  ${wrapText(text, columns, " ".repeat(longest + 4)).trimStart()}`;
  });
  return `\nFunctions (${program} call FUNCTION --help prints the fields of one)\n${rows.join("\n")}\n`;
}

/** Returns the command that makes the call of an example, quoted for a POSIX shell. */
export const commandFor = (
  definition: FunctionDefinition,
  { request }: Pick<Example, "request">,
  { program }: Pick<HelpOptions, "program">,
): string => {
  const payload = JSON.stringify(request).replaceAll("'", "'\\''");
  return `${program} call ${shortName(definition.id)} '${payload}'${targetOf(definition)}`;
};

/** The functions whose jobs end with the process that started them. */
const jobFunctions = ["shell::exec_bg", "shell::status", "shell::kill", "shell::list"];

/**
 * Returns the flag that an example needs: a running worker for jobs and channels, or a folder for the shell
 * worker, which serves none by itself.
 */
function targetOf({ id, needsBus }: FunctionDefinition): string {
  if (needsBus || jobFunctions.includes(id)) return ` --url ${defaultUrl}`;
  if (id === "shell::exec") return " --base-path .";
  return id.startsWith("shell::") ? " --base-path /srv/data" : "";
}

/** Returns the id of a function without its worker if that is the default. */
const shortName = (id: string): string => id.replace(/^coder::/, "");

const firstSentence = (text: string): string => /^.*?(?:\.(?=\s|$)|$)/s.exec(text)![0].replace(/\.$/, "");

/** Renders a paragraph for each field, and below it the fields of the objects in it. */
function renderFields(schema: TObject, columns: number, indent: string): string[] {
  return Object.entries(schema.properties).flatMap(([name, field]) => {
    const byDefault = renderDefault(field).replaceAll("`", "");
    const facts = [
      renderType(field).replaceAll("`", ""),
      byDefault === "" ? "optional" : byDefault === "required" ? byDefault : `default ${byDefault}`,
    ].join(", ");
    const text = describeField(field);
    return [
      `${indent}${name}  (${facts})`,
      ...(text === "" ? [] : [wrapText(text, columns, `${indent}    `)]),
      ...objectsIn(field).flatMap((one) => [
        `${indent}  ${titleOf(one, name)}:`,
        ...renderFields(one, columns, `${indent}    `),
      ]),
    ];
  });
}
