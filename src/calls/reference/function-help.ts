/** The help of functions at the command line, made from their definitions. */
import type { TObject } from "@sinclair/typebox";
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
    ...examples.flatMap((example) => [`  ${example.title}:`, `    ${commandFor(id, example, options)}`]),
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
  id: string,
  { request }: Pick<Example, "request">,
  { program }: Pick<HelpOptions, "program">,
): string => `${program} call ${shortName(id)} '${JSON.stringify(request).replaceAll("'", "'\\''")}'`;

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
