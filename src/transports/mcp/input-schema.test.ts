import { expect, test } from "bun:test";
import { type TObject, Type } from "@sinclair/typebox";
import { Named, Nullable, UInt32 } from "../../base/schema/fragments.ts";
import type { FunctionDefinition } from "../../calls/contract/definition.ts";
import { workers } from "../../serve/workers.ts";
import { inputSchema } from "./input-schema.ts";

const schemaOf = (request: TObject, brief?: string) =>
  inputSchema({ request, brief } as unknown as FunctionDefinition, strict) as unknown;

const strict = { takesFlatEnvelopes: false, isForgiving: false, listsRareFields: false };
const lenient = { takesFlatEnvelopes: true, isForgiving: true, listsRareFields: true };

const later = { since: "0.4.0" };

test("what the worker checks anyway and what means that nothing was sent is left out", () => {
  const request = Type.Object(
    {
      count: UInt32({ default: 1, description: "How many." }),
      limit: Nullable(UInt32(), { default: null, description: "At most." }),
      all: Type.Boolean({ default: false }),
      parents: Type.Boolean({ default: true }),
      globs: Type.Array(Type.String(), { default: [] }),
      kind: Type.Union([Type.Literal("file"), Type.Literal("dir")]),
    },
    { title: "Input" },
  );
  expect(schemaOf(request)).toEqual({
    type: "object",
    properties: {
      count: { description: "How many.", type: "integer" },
      limit: { description: "At most.", type: "integer" },
      all: { type: "boolean" },
      parents: { type: "boolean" },
      globs: { type: "array", items: { type: "string" } },
      kind: { type: "string", enum: ["file", "dir"] },
    },
    required: ["kind"],
  });
});

test("with a brief, only fields that came later describe themselves, with everything in them", () => {
  const request = Type.Object({
    path: Type.String({ description: "Old." }),
    window: Type.Optional(
      Type.Object({ from: UInt32({ description: "First." }) }, { description: "New.", ...later }),
    ),
  });
  expect(schemaOf(request, "Does it.")).toEqual({
    type: "object",
    properties: {
      path: { type: "string" },
      window: {
        description: "New.",
        type: "object",
        properties: { from: { description: "First.", type: "integer" } },
        required: ["from"],
      },
    },
    required: ["path"],
  });
});

test("alternatives of objects are one object, whose tag says what each is for", () => {
  const Op = Type.Union(
    [
      Type.Object({ op: Type.Literal("add"), at: UInt32(), text: Type.String() }, { description: "Adds." }),
      Type.Object({ op: Type.Literal("swap"), at: UInt32() }, { description: "Swaps.", ...later }),
    ],
    { $id: "Op" },
  );
  const Spec = Named("Spec", { ops: Type.Array(Op), spare: Nullable(Op, { default: null }) });
  const op = (description: string) => ({
    type: "object",
    properties: {
      op: { description, type: "string", enum: ["add", "swap"] },
      at: { type: "integer" },
      text: { type: "string" },
    },
    required: ["at", "op"],
  });
  const [whole, brief] = [undefined, "Does it."].map((text) => schemaOf(Spec, text)) as [object, object];
  expect(whole).toMatchObject({ properties: { ops: { items: op("add: Adds. swap: Swaps.") } } });
  expect(brief).toMatchObject({
    properties: { ops: { items: op("swap: Swaps.") }, spare: op("swap: Swaps.") },
  });
});

test("a map of texts is shown as a list of keys and values, where that is taken", () => {
  const request = Type.Object({ env: Type.Record(Type.String(), Type.String()) });
  const definition = { request } as unknown as FunctionDefinition;
  const text = { type: "string" };
  expect(inputSchema(definition, lenient) as unknown).toMatchObject({
    properties: { env: { type: "array", items: { properties: { key: text, value: text } } } },
  });
  expect(inputSchema(definition, strict)).toMatchObject({ properties: { env: { type: "object" } } });
});

test("a flat envelope shows the fields of one entry, and says that there may be several", () => {
  const Spec = Named("Spec", {
    path: Type.String(),
    content: Type.String(),
    mode: Type.String({ default: "0644" }),
  });
  const request = Type.Object({ files: Type.Array(Spec), all: Type.Boolean({ default: false }) });
  const definition = { request, hasFlatEnvelope: true } as unknown as FunctionDefinition;
  expect(inputSchema(definition, lenient) as unknown).toEqual({
    type: "object",
    properties: {
      path: { type: "string" },
      content: { type: "string" },
      mode: { type: "string" },
      files: {
        description: "For several, in place of these.",
        type: "array",
        items: {
          type: "object",
          properties: { path: { type: "string" }, content: { type: "string" }, mode: { type: "string" } },
          required: ["content", "path"],
        },
      },
      all: { type: "boolean" },
    },
  });
  expect(inputSchema(definition, strict)).toMatchObject({ required: ["files"] });
});

test.each(Object.values(workers).flatMap(({ functions }) => functions))(
  "$id has no reference, alternative, default or list of types",
  (definition) => {
    const text = JSON.stringify(inputSchema(definition, lenient));
    expect(text).not.toContain('"default":');
    expect(text).not.toMatch(/"(\$ref|definitions|oneOf|anyOf|allOf)":|"(\$schema|title|format|x-since)":"/);
    expect(text).not.toContain('"type":[');
  },
);

test("a rare field is listed only if the operator asked for all tools, at every depth", () => {
  const rare = Type.Optional(Type.Boolean({ since: "0.4.0", isRare: true }));
  const request = Type.Object({ path: Type.String(), rare, files: Type.Array(Type.Object({ rare })) });
  expect(schemaOf(request)).toEqual({
    type: "object",
    properties: {
      path: { type: "string" },
      files: { type: "array", items: { type: "object", properties: {} } },
    },
    required: ["files", "path"],
  });
  const definition = { request } as unknown as FunctionDefinition;
  expect(inputSchema(definition, lenient)).toMatchObject({
    properties: {
      rare: { type: "boolean" },
      files: { items: { properties: { rare: { type: "boolean" } } } },
    },
  });
});
