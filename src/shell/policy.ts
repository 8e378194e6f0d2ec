import { ConfigError } from "../config/file.ts";
import { type DenylistPattern, makePolicy, type Policy } from "../processes/policy.ts";
import type { RegexEngine } from "../regex/engine.ts";
import { PatternError } from "../regex/regex-runtime.ts";
import type { ShellConfig } from "./config.ts";

/**
 * The configured policy. `roots` are the canonical folders that calls can write in: the worker runs nothing in them.
 * Throws a `ConfigError` for a pattern that does not compile.
 */
export function createPolicy(config: ShellConfig, roots: readonly string[], regex: RegexEngine): Policy {
  return makePolicy({
    denylist: config.denylist_patterns.map((pattern) => compilePattern(pattern, regex)),
    allowlist: config.allowlist,
    programFolders: config.program_folders,
    writableRoots: roots,
  });
}

function compilePattern(source: string, { runtime }: RegexEngine): DenylistPattern {
  try {
    const compiled = runtime.compile(source);
    return {
      source,
      matches(text) {
        const bytes = Buffer.from(text);
        return compiled.isMatch(bytes, 0, bytes.length);
      },
    };
  } catch (error) {
    if (error instanceof PatternError)
      throw new ConfigError(`denylist_patterns holds ${JSON.stringify(source)}: ${error.message}`);
    throw error;
  }
}
