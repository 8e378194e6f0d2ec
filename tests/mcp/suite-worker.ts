import type { CallToolResult } from "@modelcontextprotocol/client";
import type { Case } from "../conformance/case.ts";
import type { SuiteWorker } from "../conformance/suite.ts";
import type { Subject } from "../harness/subject.ts";
import { buildTree, snapshotTree } from "../harness/tree.ts";
import type { ClientOutcome } from "../harness/worker-fixture.ts";
import { connectStdio } from "./client.ts";

/** Returns the name of a function's tool. */
export const toolOf = (functionId: string): string => functionId.replaceAll(/[:-]+/g, "_");

/** Whether the payload is an object, the only type of arguments in MCP. */
export const isCallable = ({ call: { payload } }: Case): boolean =>
  typeof payload === "object" && payload !== null && !Array.isArray(payload);

export interface OverMcp {
  readonly args?: readonly string[];
  /** Converts a result to the form of the bus, so that both use the same comparison. */
  readonly outcomeOf: (result: CallToolResult) => ClientOutcome;
}

/** Starts `coder mcp` for the cases of one configuration, with the umask of the tests on the bus. */
export const startOverMcp =
  ({ args = [], outcomeOf }: OverMcp) =>
  async (subject: Subject, config: Readonly<Record<string, unknown>>): Promise<SuiteWorker> => {
    const before = process.umask(0o027);
    const connected = await connectStdio(subject, {
      config: { profile: "contract", ...config },
      args: ["--tools", "all", ...args],
    });
    process.umask(before);
    const { root, base } = connected;
    return {
      root,
      base,
      worker: { stdout: () => "", stderr: connected.stderr },
      build: (tree) => buildTree(root, tree),
      snapshot: () => snapshotTree(root),
      call: async (functionId, payload) =>
        outcomeOf(await connected.call(toolOf(functionId), payload as Record<string, unknown>)),
      async stop() {
        await connected[Symbol.asyncDispose]();
        return 0;
      },
    };
  };

/** Returns an error in the form that a client of the bus gets. */
export const errorOutcome = (json: string): ClientOutcome => ({
  error: Object.assign(new Error(`invocation_failed: handler error: ${json}`), { code: "invocation_failed" }),
});
