import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { functions } from "../../src/coder/functions.ts";
import type { Case } from "../conformance/case.ts";
import { catalogue } from "../conformance/catalogue.ts";
import { casesOfParts } from "../conformance/parts-of-the-tree.ts";
import { runCatalogue, runConformanceCases } from "../conformance/suite.ts";
import { defaultSubjects } from "../harness/subject.ts";
import type { ClientOutcome } from "../harness/worker-fixture.ts";
import { connectStdio, type McpFixture, textOf } from "./client.ts";
import { errorOutcome, isCallable, startOverMcp, toolOf } from "./suite-worker.ts";

const ids = new Map(functions.map(({ id }) => [toolOf(id), id]));

/** Replaces the names of tools in JSON by the ids of their functions, which the bus uses. */
const withIds = (json: string): string =>
  json.replaceAll(/\bcoder_[a-z_]+\b/g, (name) => ids.get(name) ?? name);

const outcomeOf = (result: CallToolResult): ClientOutcome =>
  result.structuredContent === undefined
    ? errorOutcome(withIds(textOf(result)))
    : { answer: JSON.parse(withIds(JSON.stringify(result.structuredContent))) };

const transport = { start: startOverMcp({ args: ["--structured"], outcomeOf }), supports: isCallable };

describe.each(defaultSubjects)("the %s", (subject) => {
  runCatalogue(subject, transport);
});

/** Returns the first case of a function that succeeds with the default configuration. */
const typicalCase = (cases: readonly Case[]): Case[] =>
  cases.filter((one) => one.config === undefined && "answer" in one.expect && isCallable(one)).slice(0, 1);

// The sources run all cases over the bus in `tests/conformance/source.test.ts`.
if (!defaultSubjects.includes("source"))
  describe("the source", () => {
    runConformanceCases(Object.values(catalogue).flatMap(typicalCase), "source", transport);
  });

describe("the executable over several roots, and with a scope", () => {
  runConformanceCases(casesOfParts, "executable", transport);
});

let connected: McpFixture;

beforeAll(async () => {
  connected = await connectStdio("executable", { tree: { "a.txt": "a" } });
});

afterAll(() => connected[Symbol.asyncDispose]());

test("the other cases, whose arguments are not an object, are refused by the protocol", async () => {
  const others = Object.values(catalogue)
    .flat()
    // For the protocol, `null` is the same as no arguments.
    .filter((one) => !isCallable(one) && one.call.payload !== null);
  expect(others.length).toBeGreaterThan(0);
  for (const { call } of others) {
    const sent = connected.call(toolOf(call.function), call.payload as Record<string, unknown>);
    expect(await sent.catch((error: { code: number }) => error.code)).toBe(-32602);
  }
});

test.each([
  ["contract", "coder::list-folder"],
  ["agent", "coder_list_folder"],
])("in the profile %s an error in JSON names %s", async (profile, name) => {
  await using served = await connectStdio("executable", { config: { profile }, args: ["--structured"] });
  const missing = JSON.parse(textOf(await served.call("coder_read_file", { path: "none" })));
  expect(missing.message).toContain(name);
});
