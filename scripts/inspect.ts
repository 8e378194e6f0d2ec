/**
 * `npm run inspect`: what the MCP Inspector says about the tools, over stdio, with the sample folder. It is fetched
 * with npx (about 130 MB), so `npm test` does without it.
 */
import { ensureExecutable, executable, root } from "./build.ts";

const inspector = "@modelcontextprotocol/inspector@2.12.0";

const requests: readonly (readonly string[])[] = [
  ["--method", "tools/list", "--strict"],
  ["--method", "resources/list"],
  ["--method", "tools/call", "--tool-name", "coder_read_file", "--tool-arg", "path=README.md"],
  ["--method", "tools/call", "--tool-name", "coder_search", "--tool-arg", "query=tea"],
];

await ensureExecutable();
for (const request of requests) {
  const serve = [executable, "mcp", "--base-path", "sample"];
  const child = Bun.spawn(["npx", "--yes", inspector, "--cli", ...serve, ...request], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const answer = JSON.parse(await child.stdout.text()) as { readonly isError?: boolean };
  const isGood = (await child.exited) === 0 && answer.isError !== true;
  console.log(`${isGood ? "ok  " : "FAIL"}  ${request.join(" ")}`);
  if (!isGood) process.exitCode = 1;
}
