import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { InvocationError } from "iii-sdk";
import type { Case } from "../conformance/case.ts";
import { catalogue } from "../conformance/catalogue.ts";
import { runCatalogue, type Serving } from "../conformance/suite.ts";
import type { Outcome } from "../harness/served.ts";
import { type Subject, subjects } from "../harness/subject.ts";
import { buildTree, snapshotTree } from "../harness/tree.ts";
import { type Connected, connectStdio, textOf } from "./client.ts";

const toolOf = (functionId: string) => functionId.replaceAll(/[:-]+/g, "_");

const isObject = (payload: unknown) =>
  typeof payload === "object" && payload !== null && !Array.isArray(payload);

async function serve(subject: Subject, config: Readonly<Record<string, unknown>>): Promise<Serving> {
  const connected = await connectStdio(subject, { config });
  const { root, base } = connected;
  return {
    root,
    base,
    worker: { stdout: () => "", stderr: connected.stderr },
    build: (tree) => buildTree(root, tree),
    snapshot: () => snapshotTree(root),
    call: (functionId, payload) => callTool(connected, functionId, payload as Record<string, unknown>),
    async stop() {
      await connected[Symbol.asyncDispose]();
      return 0;
    },
  };
}

/** A result in the form in which the bus shows it, so that one comparison judges both. */
async function callTool(
  connected: Connected,
  functionId: string,
  payload: Record<string, unknown>,
): Promise<Outcome> {
  const result = await connected.call(toolOf(functionId), payload);
  if (result.structuredContent !== undefined) return { answer: result.structuredContent };
  const message = `invocation_failed: handler error: ${textOf(result)}`;
  return { error: { code: "invocation_failed", message } as InvocationError };
}

describe.each(subjects)("the %s", (subject) => {
  runCatalogue(subject, { serve, carries: (one: Case) => isObject(one.call.payload) });
});

let connected: Connected;

beforeAll(async () => {
  connected = await connectStdio("executable", { tree: { "a.txt": "a" } });
});

afterAll(() => connected[Symbol.asyncDispose]());

test("the other cases, whose arguments are no object, are refused by the protocol", async () => {
  const others = Object.values(catalogue)
    .flat()
    .filter((one) => !isObject(one.call.payload));
  expect(others.length).toBeGreaterThan(0);
  for (const { call } of others) {
    const sent = connected.call(toolOf(call.function), call.payload as Record<string, unknown>);
    expect(await sent.catch((error: { code: number }) => error.code)).toBe(-32602);
  }
});
