/**
 * `npm run suite -- clients`: installs the real command lines of Claude Code, Codex and Gemini from npm, and
 * checks that each lists the server that `coder setup` added, in a new home folder with and without a
 * configuration. Also tries the plugins of this repository. The last line says
 * `N passed, N failed, N skipped`.
 */
import { match } from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { executable } from "../../scripts/build.ts";
import { renderManifests } from "../../scripts/release/manifests/manifests.ts";
import { run } from "../../scripts/release/packages.ts";
import { check, totals } from "../../scripts/release/trial/checks.ts";

/** Validates the manifests of this repository with the clients that read them, and installs the plugin. */
async function tryPlugins(): Promise<void> {
  const [home, folder] = [join(base, "home"), join(base, "plugin")];
  for (const [path, text] of renderManifests()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  mkdirSync(home);
  const client = (program: string, ...args: string[]) => {
    const command = [join(base, "node_modules/.bin", program), ...args];
    const env = { PATH: process.env["PATH"] ?? "", HOME: home };
    const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: folder, env });
    if (exitCode !== 0) throw new Error(`${stdout}${stderr}`);
    return `${stdout}${stderr}`;
  };
  await check("claude accepts the marketplace and the plugin in it", () => {
    match(client("claude", "plugin", "validate", "."), /Validation passed/);
    client("claude", "plugin", "marketplace", "add", folder);
    client("claude", "plugin", "install", "coder@coder");
  });
  await check("codex accepts them too, and lists the server", () => {
    client("codex", "plugin", "marketplace", "add", folder);
    client("codex", "plugin", "add", "coder@coder");
    match(client("codex", "mcp", "list"), /^coder +npx /m);
  });
  await check("gemini accepts the extension", () => {
    match(client("gemini", "extensions", "validate", "."), /successfully validated/);
  });
}

/** The npm packages of the clients, at the last versions tested. */
const packages = ["@anthropic-ai/claude-code@2.1.332", "@openai/codex@0.169.0", "@google/gemini-cli@0.61.0"];

interface RealClient {
  readonly name: string;
  readonly program: string;
  /** The output of `mcp list` if the server works. */
  readonly listed: RegExp;
  /**
   * The files of an existing configuration. An empty one is written in every case, with the trusted folder.
   */
  readonly files?: Readonly<Record<string, string>>;
}

const clients: readonly RealClient[] = [
  {
    name: "claude-code",
    program: "claude",
    listed: /^coder: .* mcp --base-path .* ✔ Connected$/m,
    files: { "home/.claude.json": '{\n  "theme": "dark",\n  "projects": {}\n}' },
  },
  {
    name: "codex",
    program: "codex",
    listed: /^coder +\/.* mcp --base-path .* enabled/m,
    files: {
      "home/.codex/config.toml":
        '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "true" # nothing\n\n[profiles.p]\nmodel = "y"\n',
    },
  },
  {
    name: "gemini",
    program: "gemini",
    listed: /coder: .* mcp --base-path .*\(stdio\) - Connected$/m,
    files: {
      "folder/.gemini/settings.json": '{\n  // mine\n  "ui": { "theme": "x" } // no comma\n}\n',
      // Gemini does not start servers in a folder that the user does not trust.
      "home/.gemini/trustedFolders.json": "",
    },
  },
];

const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-clients-")));
try {
  writeFileSync(join(base, "package.json"), "{}");
  run(["npm", "install", "--silent", "--no-audit", "--no-fund", ...packages], base);
  for (const client of clients) await tryClient(client);
  await tryPlugins();
} finally {
  rmSync(base, { recursive: true });
}
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed === 0 ? 0 : 1;

async function tryClient({ name, program, listed, files = {} }: RealClient): Promise<void> {
  for (const isPrepared of [false, true]) {
    const own = mkdtempSync(join(base, `${name}-`));
    const [home, folder] = [join(own, "home"), join(own, "folder")];
    const trusted = JSON.stringify({ [folder]: "TRUST_FOLDER" });
    for (const directory of ["home/.codex", "home/.gemini", "folder/.gemini"])
      mkdirSync(join(own, directory), { recursive: true });
    for (const [path, text] of Object.entries(files))
      if (isPrepared || text === "") writeFileSync(join(own, path), text || trusted);
    const state = isPrepared ? "a configuration with comments" : "no configuration";
    const start = (command: string[]) =>
      Bun.spawnSync(command, { cwd: folder, env: { PATH: process.env["PATH"] ?? "", HOME: home } });
    const list = () => {
      const { stdout, stderr } = start([join(base, "node_modules/.bin", program), "mcp", "list"]);
      return `${stdout}${stderr}`.replaceAll(/\x1b\[[\d;]*m/g, "");
    };
    await check(`${program}, ${state}: setup, and it lists the server`, () => {
      const { exitCode, stderr } = start([executable, "setup", name]);
      if (exitCode !== 0) throw new Error(stderr.toString());
      match(list(), listed);
    });
    await check(`${program}, ${state}: --remove, and it lists it no longer`, () => {
      const { exitCode, stderr } = start([executable, "setup", name, "--remove"]);
      if (exitCode !== 0) throw new Error(stderr.toString());
      const text = list();
      if (/^\W*coder/m.test(text)) throw new Error(text);
      if (/invalid|corrupt|error/i.test(text)) throw new Error(text);
    });
  }
}
