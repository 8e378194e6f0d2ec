/** Line numbers that a listing puts before each line, and that are pasted with it. */
import type { Steps } from "../../base/scheduling/time-slice.ts";

/** A line as `cat -n`, `grep -n` and numbered reads show it. */
const listedLine = /^ {0,8}(?:\d{1,7}(?:\u2192|\t| ?\| ?|: )|L\d{1,7}: )/;

/** Further forms, which ordinary text may have too. */
const looseForms: readonly RegExp[] = [
  /^ {0,8}(\d{1,7})[:|-]/,
  /^ {0,8}(\d{1,7})[.):-] ?/,
  /^ {0,8}[[(](\d{1,7})[\])]:? ?/,
  /^ {0,8}(?:[Ll]ine |#|L)(\d{1,7})[:.)|-]? ?/,
  /^ {0,8}(\d{1,7}) {1,2}/,
];

/**
 * Returns whether one line in this form suffices. The last form, a number and a blank, begins too many
 * sentences for that.
 */
const isClear = (form: RegExp): boolean => form !== looseForms.at(-1);

/** Maximum UTF-16 units of a text that is read as a listing. */
const maxPasted = 512 * 1024;

const linesPerStep = 8192;

/**
 * Returns `text` without the line numbers of a listing, or `undefined` if some line has none. Numbers that
 * ordinary text may have must be consecutive, or `isThere` must find the text without them. The first line
 * may lack its number, since a text may begin within a line.
 */
export function* withoutLineNumbers(
  text: string,
  isThere: (text: string) => Steps<boolean>,
): Steps<string | undefined> {
  if (text.length > maxPasted || text === "") return undefined;
  for (const from of startsOf(text)) {
    if ((yield* numberingBy(text, from, listedLine)) !== undefined)
      return yield* withoutForm(text, from, listedLine);
    for (const form of looseForms) {
      const numbering = yield* numberingBy(text, from, form);
      if (numbering === undefined || (numbering === "other" && !isClear(form))) continue;
      const bare = yield* withoutForm(text, from, form);
      if ((numbering === "consecutive" && from === 0) || (isClear(form) && (yield* isThere(bare))))
        return bare;
    }
  }
  return undefined;
}

/** Returns the starts of the first line and, if there are more than two, of the second. */
function startsOf(text: string): number[] {
  const second = text.indexOf("\n") + 1;
  const third = second === 0 ? 0 : text.indexOf("\n", second) + 1;
  return third > 0 && third < text.length ? [0, second] : [0];
}

/** Maximum units of a line that its number and its padding take. */
const maxNumbered = 64;

/** Returns how lines are numbered in a form, or `undefined` as soon as one of them is not. */
function* numberingBy(text: string, from: number, form: RegExp): Steps<"consecutive" | "other" | undefined> {
  let [first, count, isRun] = [0, 0, true];
  for (let at = from; at < text.length; count++) {
    const found = form.exec(text.slice(at, at + maxNumbered));
    if (found === null) return undefined;
    const number = Number(found[1]);
    if (count === 0) first = number;
    isRun &&= number === first + count;
    const feed = text.indexOf("\n", at);
    at = feed < 0 ? text.length : feed + 1;
    if (count % linesPerStep === linesPerStep - 1) yield;
  }
  return isRun && count > 1 ? "consecutive" : "other";
}

/** Returns the text without what lines, from the one at `from` on, have in a form. */
function* withoutForm(text: string, from: number, form: RegExp): Steps<string> {
  const lines = [text.slice(0, from)];
  for (let at = from; at < text.length; ) {
    const feed = text.indexOf("\n", at);
    const end = feed < 0 ? text.length : feed + 1;
    lines.push(text.slice(at, end).replace(form, ""));
    at = end;
    if (lines.length % linesPerStep === 0) yield;
  }
  return lines.join("");
}

/** The form of `cat -n`, which pads numbers of fewer than six digits. */
const beforeTab = /^ *(\d{1,7})\t/;

/** The forms in which listings number lines. */
const forms: readonly RegExp[] = [
  /^ *(\d{1,7})[\u2192]/,
  beforeTab,
  /^ *(\d{1,7}) \| ?/,
  /^ *L(\d{1,7}): /,
  /^ *(\d{1,7}): /,
];

/** Maximum lines that are read for their numbers, for 10,000 consecutive ones are not a coincidence. */
const maxListed = 10_000;

/**
 * Returns whether each line of `text` begins with its number, consecutively, which hardly happens by chance.
 * A single line counts only in the form of this worker's own reads.
 */
export function isListing(text: string): boolean {
  const end = text.endsWith("\n") ? text.length - 1 : text.length;
  const isSingle = text.lastIndexOf("\n", end - 1) < 0;
  return forms.some((form, index) => {
    if (isSingle && index > 0) return false;
    // Without padding, numbers before tabs may be a column of a table.
    if (form === beforeTab && !text.startsWith(" ")) return false;
    let at = 0;
    let first: number | undefined;
    for (let line = 0; line < maxListed && at <= end; line += 1) {
      const next = text.indexOf("\n", at);
      const number = Number(form.exec(text.slice(at, at + maxNumbered))?.[1]);
      first ??= number;
      if (number !== first + line) return false;
      at = next < 0 ? end + 1 : next + 1;
    }
    return true;
  });
}
