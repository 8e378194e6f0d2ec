/**
 * The files in which registries, plugins and extensions find the server. They all come from one entry, the
 * start of the server by npx; `npm run reference` writes them.
 */
import { about } from "../../../src/base/about.ts";
import { channels, summary } from "../channels.ts";

/** The words that start the server for `folder`, in the syntax of a client. */
const serverFor = (folder: string) => ({
  command: "npx",
  args: ["-y", channels.npm, "mcp", "--base-path", folder],
});

const author = { name: "The authors of coder", url: channels.repository };

/** A package in the registry of MCP, with the folders as arguments that the user fills in. */
const inRegistry = {
  transport: { type: "stdio" },
  packageArguments: [
    { type: "positional", value: "mcp" },
    {
      type: "positional",
      valueHint: "folder",
      description: "The folders that the agent may work in",
      format: "filepath",
      isRequired: true,
      isRepeated: true,
    },
  ],
  environmentVariables: [
    {
      name: "CODER_READ_ONLY",
      description: "Whether the agent may only read",
      format: "boolean",
      default: "false",
    },
  ],
} as const;

/** An MCPB bundle of a release. */
export interface PublishedBundle {
  readonly url: string;
  /** The SHA-256 of the bundle, in hexadecimal. */
  readonly digest: string;
}

/** Returns the entry in the registry of MCP. A release adds its bundles, whose digests only it knows. */
export const registryEntry = (bundles: readonly PublishedBundle[] = []) => ({
  $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  name: channels.mcp,
  title: about.name,
  description: summary,
  version: about.version,
  repository: { url: channels.repository, source: "github" },
  packages: [
    {
      registryType: "npm",
      identifier: channels.npm,
      version: about.version,
      runtimeHint: "npx",
      ...inRegistry,
    },
    ...bundles.map(({ url, digest }) => ({
      registryType: "mcpb",
      identifier: url,
      fileSha256: digest,
      transport: { type: "stdio" },
    })),
  ],
});

/** The files by their paths in the repository, as values of JSON. */
export const manifests: Readonly<Record<string, unknown>> = {
  "server.json": registryEntry(),
  ".claude-plugin/plugin.json": {
    name: about.name,
    version: about.version,
    description: summary,
    author,
    homepage: channels.repository,
    license: "Apache-2.0",
    // Claude Code starts servers in the folder of the project.
    mcpServers: { [about.name]: serverFor(".") },
  },
  ".claude-plugin/marketplace.json": {
    name: about.name,
    description: summary,
    owner: author,
    plugins: [{ name: about.name, source: "./", description: summary }],
  },
  "gemini-extension.json": {
    name: about.name,
    version: about.version,
    description: summary,
    mcpServers: { [about.name]: serverFor("${workspacePath}") },
  },
};

/** The links that add the server to a client, by the name of the client. */
export const links = {
  vscode: `vscode:mcp/install?${encodeURIComponent(
    JSON.stringify({ name: about.name, type: "stdio", ...serverFor("${workspaceFolder}") }),
  )}`,
  cursor: `cursor://anysphere.cursor-deeplink/mcp/install?name=${about.name}&config=${encodeURIComponent(
    Buffer.from(JSON.stringify(serverFor("${workspaceFolder}"))).toString("base64"),
  )}`,
} as const;

/** Returns the text of each file. */
export const renderManifests = (): Map<string, string> =>
  new Map(
    Object.entries(manifests).map(([path, value]) => [path, `${JSON.stringify(value, null, 2)}\n`] as const),
  );
