/**
 * The programs for comparison, in the versions of peers/package-lock.json, and ripgrep from
 * package-lock.json.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../scripts/build.ts";
import { workFolder } from "./corpus.ts";

export interface Peers {
  /** The path of the executable of ripgrep. */
  readonly rg: string;
  /** The path of the MCP filesystem server, a script for Node. */
  readonly mcpFilesystem: string;
  /** The path of Desktop Commander, a script for Node. */
  readonly desktopCommander: string;
  /** The version of each program, for the report. */
  readonly versions: Readonly<Record<string, string>>;
}

/** Installs the peers beside the trees, apart from the product's own packages, if they are not there yet. */
export function ensurePeers(): Peers {
  const source = join(import.meta.dir, "peers");
  const folder = join(workFolder, "peers");
  const lock = readFileSync(join(source, "package-lock.json"), "utf8");
  const stamp = join(folder, "node_modules/.installed");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lock) {
    mkdirSync(folder, { recursive: true });
    for (const file of ["package.json", "package-lock.json"])
      copyFileSync(join(source, file), join(folder, file));
    install(folder);
    writeFileSync(stamp, lock);
  }
  const packages = join(folder, "node_modules");
  // The tests depend on the same package.
  const rg = join(root, `node_modules/@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`);
  const server = join(packages, "@modelcontextprotocol/server-filesystem");
  const commander = join(packages, "@wonderwhy-er/desktop-commander");
  return {
    rg,
    mcpFilesystem: join(server, "dist/index.js"),
    desktopCommander: join(commander, "dist/index.js"),
    versions: {
      ripgrep: spawnSync(rg, ["--version"]).stdout.toString().split("\n", 1)[0] ?? "unknown",
      "MCP filesystem server": versionOf(server),
      "Desktop Commander": versionOf(commander),
    },
  };
}

const versionOf = (folder: string): string =>
  (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version;

function install(folder: string): void {
  console.error(`Installing the peers (npm ci) in ${folder}`);
  // An install script would download a browser.
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: folder,
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) throw new Error(`npm ci failed in ${folder}`);
}
