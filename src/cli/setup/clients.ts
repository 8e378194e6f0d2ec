/**
 * The clients of MCP that `coder setup` knows: the file that each reads its servers from, the keys above an
 * entry, and the next step for the user.
 */
import { dirname, join, resolve } from "node:path";
import { claudeProject } from "./git-project.ts";

/** The machine and the user whose client is set up. */
export interface ClientHost {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** The folder to serve, as a canonical path. */
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
}

export interface Client {
  /** The name of the product. */
  readonly title: string;
  /**
   * The syntax of its file. `json` is strict, and `jsonc` may have comments and trailing commas, which are
   * kept but never introduced.
   */
  readonly syntax: "json" | "jsonc" | "toml";
  /** Whether the file belongs to one folder, so that each folder has an entry of its own. */
  readonly isPerFolder: boolean;
  readonly file: (place: ClientHost) => string;
  /** The keys that lead to the entries. */
  readonly keys: (place: ClientHost) => readonly string[];
  /** Fields of an entry beside its command and arguments. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly next: string;
}

/** Returns the folder of configurations of the user (XDG Base Directory Specification). */
const configHome = ({ home, environment }: ClientHost): string =>
  environment["XDG_CONFIG_HOME"]?.startsWith("/") ? environment["XDG_CONFIG_HOME"] : join(home, ".config");

export const clients: Readonly<Record<string, Client>> = {
  "claude-code": {
    title: "Claude Code",
    syntax: "json",
    isPerFolder: true,
    file: ({ home, environment }) => join(environment["CLAUDE_CONFIG_DIR"] || home, ".claude.json"),
    keys: ({ folder }) => ["projects", claudeProject(folder), "mcpServers"],
    fields: { type: "stdio" },
    next: "`claude mcp list`, in that folder, shows it.",
  },
  "claude-desktop": {
    title: "Claude Desktop",
    syntax: "json",
    isPerFolder: false,
    file: (place) =>
      join(
        place.platform === "darwin" ? join(place.home, "Library/Application Support") : configHome(place),
        "Claude/claude_desktop_config.json",
      ),
    keys: () => ["mcpServers"],
    next: "Restart Claude Desktop.",
  },
  cursor: {
    title: "Cursor",
    syntax: "jsonc",
    isPerFolder: true,
    file: ({ folder }) => join(folder, ".cursor/mcp.json"),
    keys: () => ["mcpServers"],
    next: "Open the folder in Cursor, and enable the server under Settings, MCP.",
  },
  vscode: {
    title: "VS Code",
    syntax: "jsonc",
    isPerFolder: true,
    file: ({ folder }) => join(folder, ".vscode/mcp.json"),
    keys: () => ["servers"],
    fields: { type: "stdio" },
    next: "Open the folder in VS Code, and start the server with `MCP: List Servers`.",
  },
  codex: {
    title: "Codex",
    syntax: "toml",
    isPerFolder: false,
    file: ({ home, environment }) => join(environment["CODEX_HOME"] || join(home, ".codex"), "config.toml"),
    keys: () => ["mcp_servers"],
    next: "`codex mcp list` shows it.",
  },
  gemini: {
    title: "Gemini CLI",
    syntax: "jsonc",
    isPerFolder: true,
    file: ({ folder }) => join(folder, ".gemini/settings.json"),
    keys: () => ["mcpServers"],
    next: "`gemini mcp list`, in that folder, shows it; Gemini starts servers only in folders that you trust.",
  },
  zed: {
    title: "Zed",
    syntax: "jsonc",
    isPerFolder: false,
    file: (place) =>
      join(
        place.platform === "darwin" ? join(place.home, ".config") : configHome(place),
        "zed/settings.json",
      ),
    keys: () => ["context_servers"],
    next: "Zed starts it at once; its settings of the agent show it.",
  },
  windsurf: {
    title: "Windsurf",
    syntax: "jsonc",
    isPerFolder: false,
    file: ({ home }) => join(home, ".codeium/windsurf/mcp_config.json"),
    keys: () => ["mcpServers"],
    next: "Refresh the servers in the panel of Cascade.",
  },
};

/** Caches of package runners, which may remove a program after it ended. */
const runnerCaches = /[/\\](?:_npx|dlx|bunx)(?:[-/\\])/;

/**
 * Returns the words that start this program. One in the cache of a package runner is started through npx
 * again.
 */
export function startWords(executable: string, npmPackage: string): readonly string[] {
  return runnerCaches.test(dirname(executable)) ? ["npx", "-y", npmPackage] : [resolve(executable)];
}
