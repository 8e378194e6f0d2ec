import { expect, test } from "bun:test";
import type { Tool } from "@modelcontextprotocol/server";
import { withoutRepeatedDescriptions } from "./repeated-descriptions.ts";

const field = (description?: string) => ({
  ...(description !== undefined && { description }),
  type: "string",
});
const tool = (name: string, properties: object) =>
  ({ name, inputSchema: { type: "object", properties } }) as unknown as Tool;
const list = (properties: object) => ({
  type: "array",
  items: { type: "object", properties, required: ["a"] },
});

test("a description that a field of the same name already has is left out, at every depth", () => {
  const tools = [
    tool("first", { a: field("One."), files: list({ a: field("One."), b: field("Two.") }) }),
    tool("second", { a: field("Other."), b: field("Two."), c: field("Two."), d: field() }),
  ];
  expect(withoutRepeatedDescriptions(tools)).toEqual([
    tool("first", { a: field("One."), files: list({ a: field(), b: field("Two.") }) }),
    tool("second", { a: field("Other."), b: field(), c: field("Two."), d: field() }),
  ]);
});
