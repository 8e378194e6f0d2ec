/**
 * Compares the bytes of common jobs over MCP between ours and the reference filesystem server, for the table
 * in docs/mcp.md. `tests/mcp/tokens.test.ts` repeats our jobs and compares the results with the table.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CallToolResult, Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { root } from "../scripts/build.ts";
import { connectStdio, makeMcpFolder } from "../tests/mcp/client.ts";
import { type Count, countJob, type ServedProject } from "../tests/mcp/tokens/count.ts";
import { jobs } from "../tests/mcp/tokens/jobs.ts";
import { project } from "../tests/mcp/tokens/project.ts";

interface Row {
  readonly name: string;
  readonly ours: Count;
  readonly theirs: Count;
}

const page = join(root, "docs/mcp.md");
const begin = "<!-- The table of bytes is written by `npm run bench -- --only tokens`. -->\n";
const end = "<!-- End of the table of bytes. -->\n";

/** Does all jobs with both servers. Writes the table into docs/mcp.md, and returns it. */
export async function compareTokens(script: string): Promise<string> {
  const rows: Row[] = [];
  for (const { name, ours, theirs } of jobs) {
    const count = await countJob(ours, () => connectStdio("executable", { tree: project }));
    rows.push({ name, ours: count, theirs: await countJob(theirs, () => openReference(script)) });
  }
  const table = renderTable(rows);
  writeFileSync(page, fill(readFileSync(page, "utf8"), table));
  return table;
}

/** Starts the reference server under Node, its usual runtime. */
async function openReference(script: string): Promise<ServedProject> {
  const { base, remove } = makeMcpFolder({ tree: project });
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: "node", args: [script, base], stderr: "ignore" }));
  return {
    call: (name, args) => client.callTool({ name, arguments: args }) as Promise<CallToolResult>,
    async [Symbol.asyncDispose]() {
      await client.close();
      remove();
    },
  };
}

const head =
  "| job | calls | bytes | calls of the reference server | bytes | ours are |\n| --- | --- | --- | --- | --- | --- |\n";

function renderTable(rows: readonly Row[]): string {
  const inSmallFiles = rows.filter(({ name }) => !name.includes("3,000"));
  const totals = [total("all but those in a file of 3,000 lines", inSmallFiles), total("all", rows)];
  return head + [...rows, ...totals].map(renderRow).join("");
}

const total = (name: string, rows: readonly Row[]): Row => ({
  name,
  ours: sum(rows.map(({ ours }) => ours)),
  theirs: sum(rows.map(({ theirs }) => theirs)),
});

const renderRow = ({ name, ours, theirs }: Row): string =>
  `| ${[name, ours.calls, ours.bytes, theirs.calls, theirs.bytes, `${Math.round((100 * ours.bytes) / theirs.bytes)} %`].join(" | ")} |\n`;

const sum = (counts: readonly Count[]): Count => ({
  calls: counts.reduce((total, { calls }) => total + calls, 0),
  bytes: counts.reduce((total, { bytes }) => total + bytes, 0),
});

function fill(text: string, table: string): string {
  const [before, after] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  if (before < begin.length || after < before)
    throw new Error("docs/mcp.md has lost the marks of its table of bytes");
  return `${text.slice(0, before)}\n${table}\n${text.slice(after)}`;
}
