import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** The session of an agent that is replayed: edits, a transaction, a deletion. */
const calls: readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>])[] = [
  [
    "coder_update_file",
    {
      path: "README.md",
      ops: [{ op: "str_replace", old_str: "# Tea timer", new_str: "# Tea and coffee timer" }],
    },
  ],
  [
    "coder_create_file",
    {
      path: "src/coffee.js",
      content: "/** Minutes for a French press. */\nexport const minutes = 4;\nexport const water = 0.94;\n",
    },
  ],
  [
    "coder_update_file",
    { path: "src/coffee.js", ops: [{ op: "str_replace", old_str: "0.94", new_str: "0.93" }] },
  ],
  [
    "coder_transact",
    {
      label: "Keep drinks together",
      changes: [
        { op: "move", from: "src/coffee.js", to: "src/drinks/coffee.js" },
        { op: "create", path: "src/drinks/index.js", content: 'export * from "./coffee.js";\n' },
      ],
    },
  ],
  ["coder_delete_file", { path: "notes", recursive: true }],
];

/** The page over a copy of a folder in which an agent has worked. */
export interface ShownReview {
  readonly url: string;
  stop(): Promise<void>;
}

/** Replays the session in a copy of `folder`, and serves the page for that. Throws if that fails. */
export async function showReview(executable: string, folder: string): Promise<ShownReview> {
  const root = mkdtempSync(join(tmpdir(), "coder-start-"));
  const base = join(root, "sample");
  cpSync(folder, base, { recursive: true });
  const env = { XDG_STATE_HOME: join(root, "state") };
  await replay(executable, base, env);
  const page = Bun.spawn([executable, "review", "--base-path", base], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let url = "";
  for await (const bytes of page.stdout) {
    url += new TextDecoder().decode(bytes);
    if (url.includes("\n")) break;
  }
  return {
    url: url.trim(),
    async stop() {
      page.kill("SIGTERM");
      await page.exited;
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function replay(executable: string, base: string, env: Record<string, string>): Promise<void> {
  const client = new Client({ name: "replayed-agent", version: "1.0.0" });
  const args = ["mcp", "--base-path", base];
  await client.connect(new StdioClientTransport({ command: executable, args, env, stderr: "ignore" }));
  try {
    for (const [name, given] of calls) {
      const { isError } = await client.callTool({ name, arguments: given });
      if (isError) throw new Error(`The replayed session fails at ${name}.`);
    }
  } finally {
    await client.close();
  }
}
