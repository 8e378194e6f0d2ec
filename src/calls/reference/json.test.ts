import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { definerFor, type FunctionDefinition, type Services } from "../contract/definition.ts";
import { renderOwnReference, renderReference } from "./json.ts";

const define = definerFor<Services>();

const rest = {
  description: "",
  effect: "reads",
  paths: [],
  response: Type.Object({}),
  examples: [],
  handle: () => ({}),
} as const;

const path = Type.String();
const tail = Type.Integer({ default: 0, since: "0.4.0" });

const asPublished = define({
  ...rest,
  id: "x::old",
  publishedIn: "x 0.2.0",
  request: Type.Object({ path }),
});
const grown = define({
  ...rest,
  id: "x::grown",
  publishedIn: "x 0.2.0",
  request: Type.Object({ files: Type.Array(Type.Object({ path, tail })) }),
});
const ours = define({ ...rest, id: "x::new", since: "0.4.0", request: Type.Object({ path }) });
const all: readonly FunctionDefinition[] = [asPublished, grown, ours];

const textOf = (value: unknown) => JSON.stringify(value);

test("a published reference has neither functions nor fields that came later", () => {
  const text = textOf(renderReference(all, "x 0.2.0"));
  expect(["x::old", "x::grown", "x::new", "tail", "0.4.0"].filter((word) => text.includes(word))).toEqual([
    "x::old",
    "x::grown",
  ]);
});

test("the whole reference says since when they are there", () => {
  expect(renderReference(all)).toMatchObject({
    functions: [
      { name: "x::old", metadata: {} },
      {
        name: "x::grown",
        metadata: {},
        request_schema: {
          properties: { files: { items: { properties: { tail: { "x-since": "0.4.0" } } } } },
        },
      },
      { name: "x::new", metadata: { since: "0.4.0" } },
    ],
  });
});

test("what is not as published is ours", () => {
  const { functions } = renderOwnReference(all) as unknown as { functions: { name: string }[] };
  expect(functions.map(({ name }) => name)).toEqual(["x::grown", "x::new"]);
});
