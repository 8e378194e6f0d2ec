/** Texts that people read: names, authors, times and numbers. */
import type { Author } from "../../base/author.ts";
import type { ChangedFile } from "./worker.ts";

/** Renders an author, such as `claude-code 2.1 · 5f0c1a2b`. */
export function nameOfAuthor(author: Author | undefined): string {
  const { client, session, worker, user } = author ?? {};
  if (session !== undefined) return `${client ?? "a client"} · ${session}`;
  if (worker !== undefined) return `worker ${worker}`;
  return user ?? (client === undefined ? "unknown" : `${client} · no session`);
}

/**
 * Characters that a text could use to look like another one: controls, terminal escapes, marks that change
 * the direction of writing, and invisible ones.
 */
const deceptive = /[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Returns the text with deceptive characters spelled out, such as `⟨U+202E⟩`. */
export const visible = (text: string): string =>
  text.replace(deceptive, (one) => `⟨U+${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

const numbers = new Intl.NumberFormat("en");

export const renderNumber = (value: number): string => numbers.format(value);

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${renderNumber(count)} ${count === 1 ? one : many}`;

/** Renders a number of bytes, such as `1.2 KB`. */
export function renderBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${renderNumber(Math.round(bytes / 100) / 10)} KB`;
  return `${renderNumber(Math.round(bytes / 100_000) / 10)} MB`;
}

const clock = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hour12: false });
const day = new Intl.DateTimeFormat("en", {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hour12: false,
});
const whole = new Intl.DateTimeFormat("en", { dateStyle: "long", timeStyle: "medium", hour12: false });

/** Renders a time as short as today allows. */
export const renderShortTime = (time: Date, now = new Date()): string =>
  (time.toDateString() === now.toDateString() ? clock : day).format(time);

export const renderWholeTime = (time: Date): string => whole.format(time);

/** The verbs of functions, as a timeline says what they did. */
const verbs: Readonly<Record<string, string>> = {
  "coder::create-file": "Created",
  "coder::update-file": "Edited",
  "coder::delete-file": "Deleted",
  "coder::move": "Moved",
  "coder::copy": "Copied",
  "coder::make-folder": "Made",
  "coder::transact": "Changed together:",
  "coder::apply-patch": "Patched",
  "coder::replace": "Replaced in",
  "coder::commit": "Carried out a plan:",
  "coder::undo": "Took back",
};

/** Renders what a call did, such as `Edited src/prices.js and 2 more`. */
export function renderDeed(functionId: string, files: readonly ChangedFile[], more: number): string {
  const verb = verbs[functionId] ?? functionId;
  // A folder that was made for a file is not what the call was about.
  const [first] = files.filter((file) => !files.some((other) => other.path.startsWith(`${file.path}/`)));
  if (first === undefined) return verb;
  const others = files.filter((file) => !first.path.startsWith(`${file.path}/`)).length - 1 + more;
  const name = visible(first.path);
  return `${verb} ${name}${others === 0 ? "" : ` and ${renderNumber(others)} more`}`;
}

/** Sums the lines of files, if any are known. */
export function sumLines(files: readonly ChangedFile[]): { added: number; removed: number } | undefined {
  if (files.every(({ added }) => added === undefined)) return undefined;
  return files.reduce(
    (sum, { added = 0, removed = 0 }) => ({ added: sum.added + added, removed: sum.removed + removed }),
    { added: 0, removed: 0 },
  );
}

export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
