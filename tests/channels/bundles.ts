/**
 * `npm run suite -- bundles`: the official tool of MCPB validates and unpacks the bundles, and the server in
 * one for this machine answers. The last line says `N passed, N failed, N skipped`.
 */
import { deepEqual, match } from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { executable } from "../../scripts/build.ts";
import { bundleManifest, bundleName, desktopTargets, packBundle } from "../../scripts/release/mcpb/bundle.ts";
import { run } from "../../scripts/release/packages.ts";
import { check, skip, totals } from "../../scripts/release/trial/checks.ts";

/** The package of the tool, in the version that was tried last. */
const tool = "@anthropic-ai/mcpb@2.1.2";

const host = "x86_64-unknown-linux-gnu";
const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-mcpb-")));
try {
  writeFileSync(join(base, "package.json"), "{}");
  run(["npm", "install", "--silent", "--no-audit", "--no-fund", tool], base);
  const mcpb = join(base, "node_modules/.bin/mcpb");
  const isHost = process.platform === "linux" && process.arch === "x64";
  for (const triple of desktopTargets) {
    const contents = isHost && triple === host ? readFileSync(executable) : Buffer.from("a program");
    const [bundle, folder] = [join(base, bundleName(triple)), join(base, triple)];
    writeFileSync(bundle, packBundle(triple, contents));
    await check(`${triple}: mcpb unpacks it, and validates its manifest`, () => {
      run([mcpb, "unpack", bundle, folder]);
      match(run([mcpb, "validate", join(folder, "manifest.json")]), /Manifest schema validation passes/);
      deepEqual(readFileSync(join(folder, "server/coder")).compare(contents), 0);
      deepEqual(statSync(join(folder, "server/coder")).mode & 0o111, 0o111);
    });
  }
  if (!isHost) skip("the server in a bundle", `there is no bundle for ${process.platform} here`);
  else await check("the server starts as the manifest says, and read only", startServer);
} finally {
  rmSync(base, { recursive: true });
}
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed === 0 ? 0 : 1;

/** Starts the unpacked server with the settings of a user, as the manifest describes it. */
function startServer(): void {
  const values = { __dirname: join(base, host), "user_config.folder": base, "user_config.read_only": "true" };
  const fill = (text: string) =>
    Object.entries(values).reduce((filled, [name, value]) => filled.replaceAll(`\${${name}}`, value), text);
  const { command, args, env } = bundleManifest(host).server.mcp_config;
  const messages = [
    {
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } },
    },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/list" },
  ];
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
  const { stdout, stderr } = Bun.spawnSync([fill(command), ...args.map(fill)], {
    stdin: Buffer.from(input),
    env: {
      HOME: base,
      ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)])),
    },
  });
  match(stdout.toString(), /coder_read_file/, stderr.toString());
  if (stdout.toString().includes("coder_update_file")) throw new Error("it offers tools that change files");
}
