/** Checks the values that a schema cannot, in the same way however a worker is started. */
import { createTimeSlice } from "../base/scheduling/time-slice.ts";
import { ConfigError } from "../config/file.ts";
import { GlobError } from "../text/globs/glob-set.ts";
import { createRegexEngine } from "../text/regex/rust-regex.ts";
import type { CommandsConfig } from "./commands.ts";
import { canonicalFolder } from "./confinement.ts";
import { minOpenFiles } from "./os-sandbox/limits.ts";
import { checkQuickly, compilePattern } from "./policy.ts";
import { compileSnapshotGlobs } from "./snapshot-globs.ts";

/** The place of values, for error sentences. */
interface Place {
  readonly source: string;
  /** The key that they are below, if any. */
  readonly below?: string;
  /** Whether a worker that serves reads them, which keeps no call waiting. Default: false. */
  readonly isReload?: boolean;
}

/** Throws a `ConfigError` with the file and the key of the first value that no command can run with. */
export async function requireUsableValues(
  config: CommandsConfig,
  { source, below, isReload = false }: Place,
): Promise<void> {
  for (const [key, check] of Object.entries(checks)) {
    try {
      await check(config, isReload);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const name = below === undefined ? key : `${below}.${key}`;
      throw new ConfigError(`${source}: ${name} ${error.message}`, name);
    }
  }
}

/** The checks by their keys. Each throws the rest of the sentence. */
const checks: Readonly<Record<string, (config: CommandsConfig, isReload: boolean) => unknown>> = {
  async denylist_patterns({ denylist_patterns: patterns }, isReload) {
    const regex = createRegexEngine({ threads: false });
    const slice = createTimeSlice();
    try {
      for (const pattern of patterns) {
        if (isReload) await checkQuickly(pattern, regex, slice);
        else compilePattern(pattern, regex);
        await slice.yieldIfDue();
      }
    } finally {
      await regex.close();
    }
  },
  snapshot({ snapshot }) {
    try {
      compileSnapshotGlobs(snapshot);
    } catch (error) {
      if (error instanceof GlobError) throw new ConfigError(`holds a bad glob: ${error.message}`);
      throw error;
    }
  },
  writable_folders: ({ writable_folders: folders }) => folders.map(canonicalFolder),
  program_folders({ program_folders: folders }) {
    const relative = folders.find((path) => !path.startsWith("/"));
    if (relative !== undefined)
      throw new ConfigError(`holds ${JSON.stringify(relative)}; write an absolute path`);
  },
  allowed_env({ allowed_env: names }) {
    const wrong = names.find((name) => !/^[^=\s\0]+$/.test(name));
    if (wrong !== undefined)
      throw new ConfigError(
        `holds ${JSON.stringify(wrong)}, which names no variable; write only the name, such as LANG`,
      );
  },
  "limits.open_files"({ limits: { open_files: files } }) {
    if (files > 0 && files < minOpenFiles)
      throw new ConfigError(
        `is ${files}, and no command starts with so few; write ${minOpenFiles} or more, or 0 for no limit`,
      );
  },
};
