import { describe, expect, test } from "bun:test";
import { workers } from "../../serve/workers.ts";
import type { FunctionDefinition } from "../contract/definition.ts";
import { commandFor, listFunctions, renderFunctionHelp } from "./function-help.ts";

const options = { program: "coder", columns: 80 };
const all: readonly FunctionDefinition[] = Object.values(workers).flatMap(({ functions }) => functions);

describe.each(all.map((definition) => [definition.id, definition] as const))("%s", (_, definition) => {
  const help = renderFunctionHelp(definition, options);

  test("names each field, and a call for each example", () => {
    const names = Object.keys(definition.request["properties"] ?? {});
    expect(names.filter((name) => !help.includes(`  ${name}  (`))).toEqual([]);
    for (const example of definition.examples)
      expect(help).toContain(`    ${commandFor(definition, example, options)}\n`);
  });

  test("fits the terminal, and names no type of another program", () => {
    const long = help.split("\n").filter((line) => line.length > 80 && !/ call |^ +\w+ {2}\(/.test(line));
    expect(long).toEqual([]);
    expect(help).not.toMatch(/crate::|`None`|Some\(|undefined/);
  });
});

test("an example is quoted for a shell", () => {
  const request = { query: "it's" };
  const search = all.find(({ id }) => id === "coder::search")!;
  expect(commandFor(search, { request }, options)).toBe(`coder call search '{"query":"it'\\''s"}'`);
});

test("the list has a line for each function", () => {
  const list = listFunctions(workers.shell.functions, options);
  for (const { id } of workers.shell.functions) expect(list).toContain(`  ${id} `);
});
