/** The refusals of the catalogue for models: code, reason and sentence as on the bus, with names of tools. */
import { describe } from "bun:test";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { catalogue } from "../conformance/catalogue.ts";
import { runCatalogue } from "../conformance/suite.ts";
import { defaultSubjects } from "../harness/subject.ts";
import type { ClientOutcome } from "../harness/worker-fixture.ts";
import { textOf } from "./client.ts";
import { errorOutcome, isCallable, startOverMcp, toolOf } from "./suite-worker.ts";

function outcomeOf(result: CallToolResult): ClientOutcome {
  const text = textOf(result);
  if (result.isError !== true) return { answer: text };
  const [, code, reason, message = ""] = /^(C\d{3}) ([a-z_]+): (.*)/.exec(text) ?? [];
  if (code === undefined) throw new Error(`not a code, a reason and a sentence: ${text}`);
  if (message.replaceAll(/"(\\.|[^"\\])*"/g, "").includes("::"))
    throw new Error(`not the name of a tool: ${text}`);
  return errorOutcome(JSON.stringify({ code, message: nameFunctions(message), reason }));
}

const functionIds = Object.keys(catalogue);

/** Replaces names of tools by the ids of their functions, which the cases expect. */
const nameFunctions = (message: string): string =>
  functionIds.reduce((text, id) => text.replaceAll(toolOf(id), id), message);

describe.each(defaultSubjects)("the %s", (subject) => {
  runCatalogue(subject, {
    start: startOverMcp({ outcomeOf }),
    supports: (one) => isCallable(one) && "error" in one.expect,
  });
});
