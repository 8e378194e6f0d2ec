/**
 * `npm run suite -- inspect`: runs the MCP Inspector on the tools, over stdio, with the sample folder. The
 * Inspector is fetched with npx (about 130 MB), so `npm test` does without it.
 *
 * The Inspector requires Node 22.19. On Node 20 its command line works nevertheless; npm's warning about the
 * version is the only one, and is filtered out here, so that a line on stderr comes from the Inspector
 * itself.
 */
import { ensureExecutable, executable, root } from "./build.ts";

const inspector = "@modelcontextprotocol/inspector@2.12.0";

const requests: readonly (readonly string[])[] = [
  ["--method", "tools/list", "--strict"],
  ["--method", "tools/call", "--tool-name", "coder_read_file", "--tool-arg", "path=README.md"],
  ["--method", "tools/call", "--tool-name", "coder_search", "--tool-arg", "query=tea"],
  ["--method", "resources/list"],
  ["--method", "resources/templates/list"],
  ["--method", "resources/read", "--uri", "coder:///README.md"],
];

await ensureExecutable();
for (const request of requests) {
  const serve = [executable, "mcp", "--base-path", "sample", "-e", "CODER_LOG=warn"];
  const child = Bun.spawn(["npx", "--yes", "--loglevel=error", inspector, "--cli", ...serve, ...request], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const answer = JSON.parse(await child.stdout.text()) as { readonly isError?: boolean };
  const isGood = (await child.exited) === 0 && answer.isError !== true;
  console.log(`${isGood ? "ok  " : "FAIL"}  ${request.join(" ")}`);
  if (!isGood) process.exitCode = 1;
}
