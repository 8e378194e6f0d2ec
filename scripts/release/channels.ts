/**
 * The names under which this program is published. None is registered yet: before the first release,
 * its owner confirms or replaces the organization here and the package in `src/base/about.ts`, runs
 * `npm run reference`, and the tests name the pages that still have the old ones.
 */
import { about, npmPackage } from "../../src/base/about.ts";

/** The organization, in the places where a name needs one. */
const owner = "iii-hq";

export const channels = {
  npm: npmPackage,
  /** The name in the registry of MCP servers, in the form of one that GitHub vouches for. */
  mcp: `io.github.${owner}/${about.name}`,
  repository: `https://github.com/${owner}/${about.name}`,
  image: `ghcr.io/${owner}/${about.name}`,
} as const;

/** The description of the server in catalogues, which allow 100 characters. */
export const summary =
  "Safe hands on a folder for AI agents: read, search, edit, run; every change can be undone.";
