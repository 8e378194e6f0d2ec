import { expect, test } from "bun:test";
import type { Tool } from "@modelcontextprotocol/server";
import { shareFields } from "./shared-fields.ts";

const ops = (names: readonly string[]) => ({
  type: "array",
  items: { type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])) },
});
const many = ops(Array.from({ length: 20 }, (_, index) => `field${index}`));
const tool = (name: string, properties: object): Tool =>
  ({ name, inputSchema: { type: "object", properties } }) as Tool;
const reference = { description: "As in one.", type: "array", items: { type: "object" } };

test("the fields of a list are shown by the first tool that has them, wherever they are in the others", () => {
  const inside = { type: "array", items: { type: "object", properties: { ops: many } } };
  const tools = shareFields([
    tool("one", { path: {}, ops: many }),
    tool("two", { changes: inside }),
    tool("three", { ops: many }),
  ]);
  expect(tools).toEqual([
    tool("one", { path: {}, ops: many }),
    tool("two", { changes: { ...inside, items: { type: "object", properties: { ops: reference } } } }),
    tool("three", { ops: reference }),
  ]);
});

test("others are shown: of another name, with other fields, and short ones", () => {
  const tools = [
    tool("one", { ops: many, files: ops(["path"]) }),
    tool("two", { edits: many, files: ops(["path"]) }),
    tool("three", { ops: { ...many, description: "Others." } }),
  ];
  expect(shareFields(tools)).toEqual(tools);
});
