/**
 * `npm run suite -- bundles`: validates and unpacks the bundles with the official MCPB tool, starts the
 * server of the bundle for this machine, and validates server.json against the schema that the MCP registry
 * publishes, or against that of `--schema FILE`. The last line says `N passed, N failed, N skipped`.
 */
import { deepEqual, match } from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Ajv, type AnySchemaObject } from "ajv";
import { executable } from "../../scripts/build.ts";
import { channels } from "../../scripts/release/channels.ts";
import { registryEntry } from "../../scripts/release/manifests/manifests.ts";
import { bundleManifest, bundleName, desktopTargets, packBundle } from "../../scripts/release/mcpb/bundle.ts";
import { run } from "../../scripts/release/packages.ts";
import { check, skip, totals } from "../../scripts/release/trial/checks.ts";

/** The npm package of the tool, at the last version tested. */
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
  else await check("the server starts as the manifest says, with two folders, and read only", startServer);
  await checkRegistryEntry();
} finally {
  rmSync(base, { recursive: true });
}
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed === 0 ? 0 : 1;

/** The server command that the official tool makes from a manifest and the settings of a user. */
interface McpConfig {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

/**
 * Starts the unpacked server as the official tool does with the settings of a user, and checks its tools and
 * folders.
 */
async function startServer(): Promise<void> {
  const { getMcpConfigForManifest } = await import(
    join(base, "node_modules/@anthropic-ai/mcpb/dist/shared/config.js")
  );
  const folders = ["one", "two"].map((name) => join(base, name));
  for (const folder of folders) mkdirSync(folder);
  const { command, args, env }: McpConfig = await getMcpConfigForManifest({
    manifest: bundleManifest(host),
    extensionPath: join(base, host),
    systemDirs: {},
    userConfig: { folders, read_only: true },
    pathSeparator: "/",
  });
  deepEqual(args, ["mcp", ...folders]);
  const messages = [
    {
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } },
    },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/list" },
    { id: 3, method: "tools/call", params: { name: "coder_tree", arguments: {} } },
  ];
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
  const server = Bun.spawn([command, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { HOME: base, ...env },
  });
  server.stdin.write(input);
  server.stdin.flush();
  let stdout = "";
  for await (const bytes of server.stdout) {
    stdout += Buffer.from(bytes).toString();
    if (stdout.includes('"id":3}')) server.stdin.end();
  }
  match(stdout, /coder_read_file/, await new Response(server.stderr).text());
  match(stdout, /one\/\\n {2}two\//);
  if (stdout.includes("coder_update_file")) throw new Error("it offers tools that change files");
}

/** Validates the registry entry of a release against the schema that it names. */
async function checkRegistryEntry(): Promise<void> {
  const entry = registryEntry([{ url: `${channels.repository}/a.mcpb`, digest: "0".repeat(64) }]);
  const { schema: file } = parseArgs({ options: { schema: { type: "string" } } }).values;
  const schema = file === undefined ? await published(entry.$schema) : JSON.parse(readFileSync(file, "utf8"));
  if (schema === undefined) return skip("server.json", `${entry.$schema} cannot be reached`);
  await check(`server.json is valid by ${schema.$id}`, () => {
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    deepEqual(schema.$id, entry.$schema);
    const isValid = (value: object) => validate(value);
    deepEqual([isValid(entry), validate.errors], [true, null]);
    deepEqual(isValid({ ...entry, name: "no namespace" }), false);
  });
}

/** Returns the JSON document at `url`, or `undefined` if it cannot be fetched. */
async function published(url: string): Promise<AnySchemaObject | undefined> {
  try {
    const response = await fetch(url);
    return response.ok ? ((await response.json()) as AnySchemaObject) : undefined;
  } catch {
    return undefined;
  }
}
