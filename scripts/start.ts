/**
 * `npm start`: shows the sample folder to an MCP client, serves the page for a copy that an agent has
 * changed, and serves the folder on the embedded engine, for trying the worker out. Compiles it first if its
 * sources have changed. Ctrl-C ends it.
 */
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { join } from "node:path";
import { ensureExecutable, executable, root } from "./build.ts";
import { showMcp } from "./start/show-mcp.ts";
import { showReview } from "./start/show-review.ts";

const defaultPort = 49134;

/** Returns the wanted port if it is free on the loopback interface, else another free one. */
function freePort(wanted: number): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(freePort(0)));
    probe.listen(wanted, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

if (await ensureExecutable()) console.log("Compiled dist/coder.");
console.log("\nThe folder ./sample over MCP, as `dist/coder mcp --base-path sample` gives it to an agent:\n");
await showMcp(executable, join(root, "sample"));
const review = await showReview(executable, join(root, "sample"));
console.log(`
What an agent has just changed in a copy of that folder, to look at and to undo, in your browser:

  ${review.url}
`);
const port = await freePort(defaultPort);
if (port !== defaultPort)
  console.log(`Port ${defaultPort} is taken by another program; using ${port} instead.`);
// Linux shows the owner of a connection, and programs of this user need no token. Elsewhere the address
// contains the token, but no argument does, because every user of the machine can read arguments.
const token = process.platform === "linux" ? undefined : randomBytes(16).toString("hex");
const address = `ws://127.0.0.1:${port}`;
const command = `dist/coder call coder::read-file '{"path":"README.md"}'`;
console.log(`
Serving the same folder on the bus at ${address}. Stop with Ctrl-C. When the line "serving" appears below, try
in another terminal:

  ${token === undefined ? `${command} --url ${address}` : `III_URL=${address}/${token} ${command}`}
`);
const worker = Bun.spawn([executable, "--engine", `embedded:${port}`, "--base-path", "sample"], {
  cwd: root,
  env: { ...process.env, ...(token !== undefined && { CODER_TOKEN: token }) },
  stdio: ["ignore", "inherit", "inherit"],
});
// From a terminal the worker gets Ctrl-C twice, which has the effect of one.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => worker.kill(signal));
process.exitCode = await worker.exited;
await review.stop();
