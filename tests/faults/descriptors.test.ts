/** A worker with a low limit of open files still answers every call. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { commandOf } from "../harness/subject.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";

const folder = temporaryFolder();
const base = join(folder, "base");
for (let index = 0; index < 200; index++) {
  mkdirSync(join(base, `d${index}`), { recursive: true });
  writeFileSync(join(base, `d${index}`, "f.txt"), "hello\n");
}
afterAll(() => rmSync(folder, { recursive: true }));

const env = { PATH: process.env["PATH"]!, HOME: folder };

/** Returns the command line of `coder mcp` with a soft and hard limit of open files. */
function limitedTo(files: number): [string, ...string[]] {
  const [file, ...args] = [...commandOf("executable"), "mcp", "--base-path", base];
  return ["sh", "-c", `ulimit -n ${files}; exec "$@"`, "sh", file!, ...args];
}

describe("with few descriptors", () => {
  test.each([40, 96, 160, 256])(
    "%p: many calls at once are all answered, and so are the next ones",
    async (files) => {
      const [command, ...args] = limitedTo(files);
      const client = new Client({ name: "tests", version: "1.0.0" });
      await client.connect(new StdioClientTransport({ command, args, env, stderr: "ignore" }));
      const call = (name: string, given: Record<string, unknown>) =>
        client.callTool({ name, arguments: given });
      const all = Array.from({ length: 15 }, (_, index) => [
        call("coder_search", { query: `hello${index}` }),
        call("coder_tree", {}),
        call("coder_create_file", { path: `new${index}/x.txt`, content: "a\n", overwrite: true }),
        call("coder_read_file", { path: `d${index}/f.txt` }),
      ]).flat();
      const refused = (await Promise.all(all)).filter(({ isError }) => isError);
      for (const { content } of refused) expect(JSON.stringify(content)).toContain("(EMFILE)");
      expect((await call("coder_info", {})).isError).toBeUndefined();
      await client.close();
    },
  );
});
