import { escapeInvisible, quoteVisibly } from "./quote.ts";

/**
 * The log: one line per event on stderr. JSON lines for machines, one readable line for a terminal. Stdout
 * carries only what the command line requests, and no line ever carries the contents of a file or a payload.
 */
export const logLevels = ["error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof logLevels)[number];

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Log {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
}

/**
 * Returns the part of an address that the log may contain: scheme, host and port, since the rest can hold
 * secrets.
 */
export function originOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly form: "json" | "text";
  /** Takes one line, newline included, for an event of `level`. */
  readonly write: (line: string, level: LogLevel) => void;
}

/** Creates a log that drops events below `level`. */
export function createLog({ level, form, write }: LogOptions): Log {
  const most = logLevels.indexOf(level);
  const render = form === "json" ? renderJson : renderText;
  const at =
    (name: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (logLevels.indexOf(name) <= most) write(`${render(name, message, fields)}\n`, name);
    };
  return { error: at("error"), warn: at("warn"), info: at("info"), debug: at("debug") };
}

function renderJson(level: LogLevel, message: string, fields: LogFields): string {
  return JSON.stringify({ time: new Date().toISOString(), level, message, ...fields });
}

/** Characters that would split a value or be invisible. */
const needsQuotes = /[\s"\p{C}]/u;

function renderText(level: LogLevel, message: string, fields: LogFields): string {
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        `${name}=${typeof value === "string" && needsQuotes.test(value) ? quoteVisibly(value) : value}`,
    );
  return [new Date().toISOString().slice(11, 23), level.padEnd(5), escapeInvisible(message), ...rest].join(
    " ",
  );
}
