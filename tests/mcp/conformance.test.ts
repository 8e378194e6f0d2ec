import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { catalogue } from "../conformance/catalogue.ts";
import { casesOfParts } from "../conformance/parts-of-the-tree.ts";
import { runCatalogue, runConformanceCases } from "../conformance/suite.ts";
import { subjects } from "../harness/subject.ts";
import type { ClientOutcome } from "../harness/worker-fixture.ts";
import { connectStdio, type McpFixture, textOf } from "./client.ts";
import { errorOutcome, isCallable, startOverMcp, toolOf } from "./suite-worker.ts";

const outcomeOf = (result: CallToolResult): ClientOutcome =>
  result.structuredContent === undefined
    ? errorOutcome(textOf(result))
    : { answer: result.structuredContent };

const transport = { start: startOverMcp({ args: ["--structured"], outcomeOf }), supports: isCallable };

describe.each(subjects)("the %s", (subject) => {
  runCatalogue(subject, transport);
});

describe("the executable over several roots, and with a scope", () => {
  runConformanceCases(casesOfParts, "executable", transport);
});

let connected: McpFixture;

beforeAll(async () => {
  connected = await connectStdio("executable", { tree: { "a.txt": "a" } });
});

afterAll(() => connected[Symbol.asyncDispose]());

test("the other cases, whose arguments are no object, are refused by the protocol", async () => {
  const others = Object.values(catalogue)
    .flat()
    .filter((one) => !isCallable(one));
  expect(others.length).toBeGreaterThan(0);
  for (const { call } of others) {
    const sent = connected.call(toolOf(call.function), call.payload as Record<string, unknown>);
    expect(await sent.catch((error: { code: number }) => error.code)).toBe(-32602);
  }
});
