/**
 * A model in strict mode must send every field of a schema, and sends null or an empty value for a field that
 * it does not use. Some sessions of `transcripts` have the same results with such arguments.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FunctionDefinition } from "../../src/calls/contract/definition.ts";
import { workers } from "../../src/serve/workers.ts";
import type { McpFixture } from "./client.ts";
import { toolOf } from "./suite-worker.ts";
import { callsOf } from "./transcripts/job.ts";
import { loadJobs } from "./transcripts/jobs.ts";
import { play, type Sender } from "./transcripts/play.ts";

interface Schema {
  readonly type: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly required?: readonly string[];
}

type Filler = (name: string, field: Schema) => unknown;

/** Adds each field of the schema that the value lacks, with the result of `filler`. */
function fill({ properties, items, required = [] }: Schema, value: unknown, filler: Filler): unknown {
  if (Array.isArray(value) && items !== undefined) return value.map((item) => fill(items, item, filler));
  if (typeof value !== "object" || value === null || Array.isArray(value) || properties === undefined)
    return value;
  const sent = value as Readonly<Record<string, unknown>>;
  const fields = Object.entries(properties).map(([name, field]) => [
    name,
    required.includes(name) || Object.hasOwn(sent, name)
      ? fill(field, sent[name], filler)
      : filler(name, field),
  ]);
  return { ...sent, ...Object.fromEntries(fields.filter(([, item]) => item !== undefined)) };
}

const filling =
  (filler: Filler) =>
  async ({ client }: McpFixture): Promise<Sender> => {
    const { tools } = await client.listTools();
    const schemas = new Map(tools.map(({ name, inputSchema }) => [name, inputSchema as unknown as Schema]));
    return (tool, args) => {
      const schema = schemas.get(tool);
      return schema === undefined ? args : (fill(schema, args, filler) as typeof args);
    };
  };

/** Empty values by type. Booleans have none. */
const empty: Readonly<Record<string, unknown>> = { string: "", integer: 0, array: [], boolean: undefined };

/** Fields whose empty value has a meaning: no match, the folder alone, or a program without arguments. */
const meaningful = ["expect_matches", "max_depth", "args"];

const jobs = new Map(await loadJobs());

/** Names of jobs that together call every tool. */
const chosen = [
  "background-job",
  "edit-by-lines",
  "every-kind-of-change",
  "files-of-the-shell",
  "find-and-read",
  "large-file",
  "large-folders",
  "miss-and-repair",
  "move-and-copy",
  "partial-batches",
  "rename-a-symbol",
  "rename-everywhere",
  "restore-one-file",
  "run-a-command",
  "search-options",
  "transact-plan-commit",
  "unified-diff",
  "watch-for-changes",
  "what-is-served",
];

test("the jobs call every tool", () => {
  const called = new Set(chosen.flatMap((name) => callsOf(jobs.get(name)!).map(({ tool }) => tool)));
  const tools = Object.values(workers)
    .flatMap(({ functions }) => functions as readonly FunctionDefinition[])
    .filter(({ needsBus = false }) => !needsBus)
    .map(({ id }) => toolOf(id));
  expect(tools.filter((tool) => !called.has(tool))).toEqual([]);
});

test.each(chosen)("%s: fields that are null count as absent", async (name) => {
  const written = readFileSync(join(import.meta.dirname, "transcripts", `${name}.md`), "utf8");
  expect(
    await play(
      jobs.get(name)!,
      "executable",
      filling(() => null),
    ),
  ).toBe(written);
});

test.each(chosen)("%s: fields that are empty count as absent", async (name) => {
  const written = readFileSync(join(import.meta.dirname, "transcripts", `${name}.md`), "utf8");
  const sender = filling((field, { type }) => (meaningful.includes(field) ? undefined : empty[type]));
  expect(await play(jobs.get(name)!, "executable", sender)).toBe(written);
});
