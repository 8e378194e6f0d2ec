/** MCPB bundles: files that Claude Desktop and other clients install with a double click. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { about } from "../../../src/base/about.ts";
import { noticesFile } from "../../build.ts";
import { channels, summary } from "../channels.ts";
import { npmMachine } from "../npm/packages.ts";
import { zipFiles } from "../zip.ts";

/** The targets on which people run desktop clients. */
export const desktopTargets: readonly string[] = [
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
];

/** The path of the executable in a bundle. */
const entryPoint = "server/coder";

/** Returns the manifest of a bundle, in version 0.3 of the format. */
export const bundleManifest = (triple: string) => ({
  manifest_version: "0.3",
  name: about.name,
  display_name: about.name,
  version: about.version,
  description: summary,
  author: { name: "The authors of coder", url: channels.repository },
  repository: { type: "git", url: `${channels.repository}.git` },
  license: "Apache-2.0",
  keywords: ["filesystem", "files", "search", "edit", "undo"],
  server: {
    type: "binary",
    entry_point: entryPoint,
    mcp_config: {
      command: `\${__dirname}/${entryPoint}`,
      // A client puts each of several folders in a word of its own.
      args: ["mcp", "${user_config.folders}"],
      env: { CODER_READ_ONLY: "${user_config.read_only}" },
    },
  },
  tools_generated: true,
  compatibility: { platforms: [npmMachine(triple).os] },
  user_config: {
    folders: {
      type: "directory",
      multiple: true,
      title: "Folders",
      description: "The folders that the agent may work in. It reaches nothing outside.",
      required: true,
    },
    read_only: {
      type: "boolean",
      title: "Read only",
      description: "Offer only the tools that cannot change anything.",
      default: false,
      required: false,
    },
  },
});

export const bundleName = (triple: string): string => `coder-${triple}.mcpb`;

/** Packs the executable for a target. */
export const packBundle = (triple: string, executable: Buffer): Buffer =>
  zipFiles([
    {
      name: "manifest.json",
      contents: Buffer.from(`${JSON.stringify(bundleManifest(triple), null, 2)}\n`),
    },
    { name: entryPoint, contents: executable, isExecutable: true },
    { name: basename(noticesFile), contents: readFileSync(noticesFile) },
  ]);
