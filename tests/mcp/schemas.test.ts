/**
 * Clients change the schemas of tools before models get them. After the changes by their packages, a model
 * must still be able to make every call: no field is lost, and the examples of all functions fit.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import { mcpToTool } from "@google/genai";
import type { Client } from "@modelcontextprotocol/client";
import { mcpToFunctionTool, RunContext } from "@openai/agents-core";
import { Ajv } from "ajv";
import { toStrictJsonSchema } from "openai/lib/transform";
import type { FunctionDefinition } from "../../src/calls/contract/definition.ts";
import { workers } from "../../src/serve/workers.ts";
import { connectStdio, type McpFixture } from "./client.ts";
import { toolOf } from "./suite-worker.ts";

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: unknown;
}

const argsOf = { coder: ["--tools", "all"], shell: ["--worker", "shell", "--tools", "all"] };

const configures = {
  coder: () => ({}),
  shell: (base: string) => ({ base_path: undefined, fs: { host_root: base }, working_dir: base }),
};

/** Returns the paths of all fields, such as `files.ops.op`. */
function fieldsOf({ properties = {}, items, anyOf = [] }: Schema, prefix = ""): string[] {
  const own = Object.entries(properties).flatMap(([name, field]) => [
    `${prefix}${name}`,
    ...fieldsOf(field, `${prefix}${name}.`),
  ]);
  const inner = [...anyOf, ...(items === undefined ? [] : [items])];
  return [...own, ...inner.flatMap((one) => fieldsOf(one, prefix))];
}

/** Returns this schema and all schemas in it. */
const schemasIn = (schema: Schema): Schema[] => [
  schema,
  ...Object.values(schema.properties ?? {}).flatMap(schemasIn),
  ...(schema.anyOf ?? []).flatMap(schemasIn),
  ...(schema.items === undefined ? [] : schemasIn(schema.items)),
];

/** Adds null for each field of the schema that the value lacks, as strict mode requires. */
function withAllFields(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withAllFields(schema.items ?? {}, item));
  if (typeof value !== "object" || value === null || schema.properties === undefined) return value;
  const sent = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, field]) => [
      name,
      withAllFields(field, sent[name] ?? null),
    ]),
  );
}

/** Returns the request of an example in the form of the schema, where maps are lists of entries. */
const sendable = (request: object): unknown =>
  JSON.parse(
    JSON.stringify(request, (key, value) =>
      ["expected_revisions", "env"].includes(key)
        ? Object.entries(value as object).map(([key, value]) => ({ key, value }))
        : value,
    ),
  );

/**
 * Returns the schema with `null` as a type of each optional field. Packages that convert Zod schemas for the
 * strict mode of OpenAI expect this form.
 */
function withNulls({ properties, items, required = [], ...rest }: Schema): Schema {
  const nullable = (name: string, field: Schema): Schema =>
    required.includes(name)
      ? field
      : {
          ...field,
          type: [field.type, "null"].flat() as string[],
          ...(field.enum !== undefined && { enum: [...field.enum, null] }),
        };
  return {
    ...rest,
    ...(items !== undefined && { items: withNulls(items) }),
    ...(properties !== undefined && {
      required,
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, nullable(name, withNulls(field))]),
      ),
    }),
  };
}

const strictSchema = (schema: Schema): Schema =>
  toStrictJsonSchema(JSON.parse(JSON.stringify(withNulls(schema))) as never) as Schema;

describe.each(["coder", "shell"] as const)("the tools of %s", (worker) => {
  const functions: readonly FunctionDefinition[] = workers[worker].functions.filter(
    ({ needsBus = false }) => !needsBus,
  );

  let connected: McpFixture;
  let listed: readonly (readonly [tool: string, schema: Schema])[];

  beforeAll(async () => {
    connected = await connectStdio("executable", { args: argsOf[worker], configure: configures[worker] });
    const { tools } = await connected.client.listTools();
    listed = tools.map(({ name, inputSchema }) => [name, inputSchema as Schema]);
  });

  afterAll(() => connected[Symbol.asyncDispose]());

  test("are all there", () => {
    expect(listed.map(([name]) => name)).toEqual(functions.map(({ id }) => toolOf(id)));
  });

  test("name the fields of every object, and use no keyword that a client drops", () => {
    for (const [tool, schema] of listed) {
      for (const one of schemasIn(schema)) {
        const known = ["description", "enum", "items", "properties", "required", "type"];
        const isEmpty = one.properties !== undefined && Object.keys(one.properties).length === 0;
        if (isEmpty) expect(one.additionalProperties, tool).toBe(false);
        const others = Object.keys(one).filter((key) => !(isEmpty && key === "additionalProperties"));
        expect(others.filter((key) => !known.includes(key))).toEqual([]);
        expect(typeof one.type, tool).toBe("string");
        if (one.type === "object") expect(one.properties, tool).toBeDefined();
        if (one.type === "array") expect(one.items, tool).toBeDefined();
      }
      const empty = schemasIn(schema).filter(
        ({ properties }) => Object.keys(properties ?? { a: 1 }).length === 0,
      );
      // Only a function without fields has an object without properties.
      expect(empty.length, tool).toBe(fieldsOf(schema).length === 0 ? 1 : 0);
    }
  });

  test("become strict tools of OpenAI's Agents SDK, whose calls arrive without the fields that are null", async () => {
    for (const { id, examples } of functions) {
      const [tool, inputSchema] = listed.find(([name]) => name === toolOf(id))!;
      const sent: unknown[] = [];
      const server = {
        name: worker,
        callTool: async (_: string, args: unknown) => {
          sent.push(args);
          return [];
        },
      };
      const converted = mcpToFunctionTool({ name: tool, inputSchema } as never, server as never, true);
      const strict = converted.parameters as Schema;
      expect(converted.strict, tool).toBe(true);
      expect(fieldsOf(strict), tool).toEqual(fieldsOf(inputSchema));
      for (const one of schemasIn(strict))
        if (one.properties !== undefined) expect(one.required, tool).toEqual(Object.keys(one.properties));
      const requests = examples.map(({ request }) => sendable(request));
      for (const request of requests)
        await converted.invoke(new RunContext(), JSON.stringify(withAllFields(inputSchema, request)));
      expect(sent, tool).toEqual(requests);
    }
  });

  test("are not in the form of OpenAI's converter for Zod, which they would pass with null beside each type", () => {
    for (const [tool, schema] of listed) {
      const mayLeaveOut = schemasIn(schema).some(
        ({ properties = {}, required = [] }) => Object.keys(properties).length > required.length,
      );
      const unchanged = () => toStrictJsonSchema(structuredClone(schema) as never);
      if (mayLeaveOut) expect(unchanged, tool).toThrow("`.optional()` without `.nullable()`");
      else expect(unchanged, tool).not.toThrow();
      const strict = strictSchema(schema);
      expect(fieldsOf(strict), tool).toEqual(fieldsOf(schema));
      for (const one of schemasIn(strict))
        if (one.properties !== undefined) expect(one.required, tool).toEqual(Object.keys(one.properties));
    }
  });

  test("pass the transform of Anthropic with all their fields", () => {
    for (const [tool, schema] of listed) {
      const transformed = transformJSONSchema(schema as never) as Schema;
      expect(fieldsOf(transformed), tool).toEqual(fieldsOf(schema));
      // The transform moves unknown keywords into descriptions.
      expect(JSON.stringify(transformed), tool).not.toMatch(/"description":"[^"]*\{[a-z]+: /);
    }
  });

  test("would lose fields in the transform of Anthropic if they took null, so they are listed without", () => {
    const lost = listed.filter(([, schema]) => {
      const transformed = transformJSONSchema(structuredClone(withNulls(schema)) as never) as Schema;
      return fieldsOf(transformed).length < fieldsOf(schema).length;
    });
    const expected = { coder: ["coder_read_file", "coder_update_file", "coder_create_file"], shell: [] };
    expect(lost.map(([tool]) => tool)).toEqual(expect.arrayContaining(expected[worker]));
  });

  test("pass google-genai with all their fields", async () => {
    const callable = mcpToTool(connected.client as unknown as Client as never);
    const { functionDeclarations = [] } = await callable.tool();
    const shown = functionDeclarations.map(({ name, parametersJsonSchema }) => [name, parametersJsonSchema]);
    expect(shown as unknown).toEqual(listed);
  });

  test("take the examples of all functions", () => {
    const ajv = new Ajv({ strict: false });
    const schemas = new Map(listed);
    for (const { id, examples } of functions)
      for (const { request } of examples) {
        const sent = sendable(request);
        const isValid = ajv.validate(closed(schemas.get(toolOf(id))!), sent);
        expect(isValid, `${id} ${JSON.stringify(sent)}`).toBe(true);
      }
  });
});

/** Returns the schema with `additionalProperties: false` in every object. */
function closed({ properties, items, ...rest }: Schema): Schema {
  return {
    ...rest,
    ...(items !== undefined && { items: closed(items) }),
    ...(properties !== undefined && {
      additionalProperties: false,
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, closed(field)]),
      ),
    }),
  };
}
