import { type CallToolResult, Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** Typical first calls of an agent: a search, and a refused read. */
const calls: readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>])[] = [
  ["coder_search", { query: "tea", max_matches: 3 }],
  ["coder_read_file", { path: ".env" }],
];

/**
 * Connects a client of the official SDK to `executable mcp` for `folder`, and prints what an agent would see.
 * Throws if that fails.
 */
export async function showMcp(executable: string, folder: string): Promise<void> {
  const client = new Client({ name: "npm-start", version: "1.0.0" });
  const args = ["mcp", "--base-path", folder];
  await client.connect(new StdioClientTransport({ command: executable, args, stderr: "ignore" }));
  try {
    const { tools } = await client.listTools();
    print("tools/list", tools.map(({ name }) => name).join(" "));
    for (const [name, given] of calls) {
      const { content } = (await client.callTool({ name, arguments: given })) as CallToolResult;
      print(
        `${name} ${JSON.stringify(given)}`,
        content.map((block) => ("text" in block ? block.text : "")).join("\n"),
      );
    }
  } finally {
    await client.close();
  }
}

const print = (request: string, answer: string): void =>
  console.log(`  ${request}\n${answer.trim().replace(/^/gm, "    ")}`);
