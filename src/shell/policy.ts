import { ConfigError } from "../config/file.ts";
import { PatternError, type Regex } from "../text/regex/regex-runtime.ts";
import type { RegexEngine } from "../text/regex/rust-regex.ts";
import type { ConfinedRules } from "./command-rules.ts";
import { defaultDenylist, type ShellConfig } from "./config.ts";
import type { ShellProfile } from "./profiles.ts";
import { type DenylistPattern, makePolicy, type Policy } from "./programs/policy.ts";

/** Removes everything that commands may write, which the sandbox does not keep them from. */
const confinedDenylist = [String.raw`\brm\s+(-\S+\s+)*(/|/\*)(\s|$)`];

/**
 * The patterns of command lines that are refused. The default ones give way to the sandbox where that keeps
 * files from commands.
 */
export function denylistOf(
  { denylist_patterns: patterns }: ShellConfig,
  profile: ShellProfile,
  confined: ConfinedRules | undefined,
): readonly string[] {
  const isDefault =
    patterns.length === defaultDenylist.length && defaultDenylist.every((one) => patterns.includes(one));
  return isDefault && profile.confined_denylist && confined?.holdsFiles === true
    ? confinedDenylist
    : patterns;
}

/**
 * The configured policy. `roots` are the canonical folders that calls can write in: the worker runs nothing
 * in them. Throws a `ConfigError` for a pattern that does not compile.
 */
export function createPolicy(
  config: ShellConfig,
  denylist: readonly string[],
  roots: readonly string[],
  regex: RegexEngine,
): Policy {
  return makePolicy({
    denylist: denylist.map((pattern) => compilePattern(pattern, regex)),
    allowlist: config.allowlist,
    programFolders: config.program_folders,
    writableRoots: roots,
  });
}

/** The patterns that are known to compile, which most sessions need only after their first answers. */
const publishedPatterns: ReadonlySet<string> = new Set([...defaultDenylist, ...confinedDenylist]);

function compilePattern(source: string, regex: RegexEngine): DenylistPattern {
  let compiled = publishedPatterns.has(source) ? undefined : compileOrThrow(source, regex);
  return {
    source,
    matches(text) {
      compiled ??= compileOrThrow(source, regex);
      const bytes = Buffer.from(text);
      return compiled.isMatch(bytes, 0, bytes.length);
    },
  };
}

function compileOrThrow(source: string, { runtime }: RegexEngine): Regex {
  try {
    return runtime.compile(source);
  } catch (error) {
    if (error instanceof PatternError)
      throw new ConfigError(`denylist_patterns holds ${JSON.stringify(source)}: ${error.message}`);
    throw error;
  }
}
