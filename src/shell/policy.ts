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
  const encode = encodeOnce();
  const patterns = denylist.map((pattern) => compilePattern(pattern, regex, encode));
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

/**
 * Compiles a pattern, or promises to if it is a published one. Throws a `ConfigError` if that fails. All
 * patterns of a policy share `encode`.
 */
export function compilePattern(
  source: string,
  regex: Pick<RegexEngine, "runtime">,
  encode = encodeOnce(),
): DenylistPattern {
  const isPublished = publishedPatterns.has(source);
  let compiled = isPublished ? undefined : compileOrThrow(source, regex);
  return {
    source,
    matches(text) {
      compiled ??= compileOrThrow(source, regex);
      const bytes = isPublished ? encode(text) : Buffer.from(text);
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

/** Maximum units of a text that published patterns read as it is. */
const maxExactUnits = 4096;

/** Returns an encoder for published patterns that remembers the last text: each reads a line in turn. */
function encodeOnce(): (text: string) => Buffer {
  let last: { readonly text: string; readonly bytes: Buffer } | undefined;
  return (text) => {
    if (text.length <= maxExactUnits) return Buffer.from(text);
    if (last?.text !== text) last = { text, bytes: encodeInAscii(text) };
    return last.bytes;
  };
}

const space = /^\p{White_Space}$/u;
const wordCharacter = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]$/u;

/** The characters that stand for those beyond ASCII: no published pattern names one of them. */
const standIns = { space: 0x20, word: 0x30, other: 0x7f };

/** The stand-ins of the characters met so far, by their code points; 0 for the others. */
let known: Uint8Array | undefined;

/**
 * Encodes a long text for the published patterns: each character beyond ASCII becomes one of its class, so
 * that they match as before. A `\b` in a text beyond ASCII makes the engine a hundred times slower. The class
 * of characters that only a newer Unicode than the engine's has assigned may differ.
 */
export function encodeInAscii(text: string): Buffer {
  if (Buffer.byteLength(text) === text.length) return Buffer.from(text);
  const bytes = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let at = 0; at < text.length; length++) {
    const code = text.codePointAt(at)!;
    at += code > 0xffff ? 2 : 1;
    bytes[length] = code < 0x80 ? code : standInFor(code);
  }
  return bytes.subarray(0, length);
}

function standInFor(code: number): number {
  known ??= new Uint8Array(0x110000);
  if (known[code] === 0) known[code] = classify(String.fromCodePoint(code));
  return known[code]!;
}

function classify(character: string): number {
  if (space.test(character)) return standIns.space;
  return wordCharacter.test(character) ? standIns.word : standIns.other;
}

const compileOrThrow = (source: string, { runtime }: Pick<RegexEngine, "runtime">): Regex =>
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
