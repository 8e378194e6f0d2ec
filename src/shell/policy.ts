import type { TimeSlice } from "../base/scheduling/time-slice.ts";
import { ConfigError } from "../config/file.ts";
import { PatternError, type Regex } from "../text/regex/regex-runtime.ts";
import type { RegexEngine } from "../text/regex/rust-regex.ts";
import type { ConfinedRules } from "./command-rules.ts";
import { defaultDenylist, type ShellConfig } from "./config.ts";
import type { ShellProfile } from "./profiles.ts";
import { type DenylistPattern, makePolicy, type Policy, type PolicyRules } from "./programs/policy.ts";

/**
 * Matches commands that remove everything that commands may write, which the sandbox permits. A `\b` in place
 * of its first group takes five times as long on a long text beyond ASCII.
 */
const confinedDenylist = [String.raw`(^|\W)rm\s+(-\S+\s+)*(/|/\*)(\s|$)`];

/**
 * Returns the patterns of refused command lines. The sandbox replaces the default ones if it hides files from
 * commands.
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

interface PolicyOptions extends Pick<PolicyRules, "writableRoots" | "maySet" | "namesPaths"> {
  /** Patterns of refused command lines. */
  readonly denylist: readonly string[];
  readonly regex: RegexEngine;
}

/** Returns the configured policy. Throws a `ConfigError` for a pattern that does not compile. */
export function createPolicy(config: ShellConfig, { denylist, regex, ...rules }: PolicyOptions): Policy {
  const patterns = denylist.map((pattern) => compilePattern(pattern, regex));
  return makePolicy({
    denylist: patterns,
    preparations: [
      () => regex.module,
      () => regex.runtime,
      ...patterns.map((pattern) => () => pattern.matches("")),
    ],
    allowlist: config.allowlist,
    programFolders: config.program_folders,
    ...rules,
  });
}

/** Patterns that are known to compile, so compiling them can wait until after the first answers. */
const publishedPatterns: ReadonlySet<string> = new Set([...defaultDenylist, ...confinedDenylist]);

/** Compiles a pattern, or promises to if it is a published one. Throws a `ConfigError` if that fails. */
export function compilePattern(source: string, regex: RegexEngine): DenylistPattern {
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

/** Throws a `ConfigError` for a pattern that does not compile, unless compiling it takes long. */
export async function checkQuickly(source: string, regex: RegexEngine, slice: TimeSlice): Promise<void> {
  if (publishedPatterns.has(source) || source.length > maxQuickUnits) return;
  // The engine takes 40 ms to open, once.
  for (const open of [() => regex.module, () => regex.runtime]) {
    open();
    await slice.yieldIfDue();
  }
  refusing(source, () => regex.compileQuickly(source));
}

const maxQuickUnits = 4096;

const compileOrThrow = (source: string, { runtime }: RegexEngine): Regex =>
  refusing(source, () => runtime.compile(source));

function refusing<T>(source: string, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (error instanceof PatternError)
      throw new ConfigError(`holds ${JSON.stringify(source)}: ${error.message}`);
    throw error;
  }
}
