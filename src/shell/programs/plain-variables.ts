/**
 * The environment variables that commands get, and callers may set, in profiles with a list. A list of
 * variables that run code is never complete (`code-variables.ts`): every program has variables of its own.
 * These control printing, language, time zone and the author of commits, or are read by the programs of
 * projects.
 */

const names = new Set(
  [
    "LANG LANGUAGE TZ TERM COLORTERM COLUMNS LINES",
    "NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE",
    "CI DEBUG LOG_LEVEL VERBOSE NODE_ENV RUST_BACKTRACE RUST_LOG SOURCE_DATE_EPOCH",
    "PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONUTF8 PYTHONIOENCODING",
    "GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE",
    "HOST NAME PORT SEED",
  ].flatMap((line) => line.split(" ")),
);

const prefixes = ["LC_", "APP_"];

/** Renders the list for a caller. */
export const plainVariables = [...names, ...prefixes.map((prefix) => `${prefix}*`)].join(", ");

/** Returns whether the list has a variable of this name. */
export const isPlainVariable = (name: string): boolean =>
  names.has(name) || prefixes.some((prefix) => name.startsWith(prefix) && /^[A-Z0-9_]+$/.test(name));
