/** Line numbers that a listing puts before each line, and that are pasted with it. */

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

/** Maximum UTF-16 units of a text that is read as a listing. Reading 9 MB would take 200 ms. */
const maxPasted = 512 * 1024;

/**
 * Returns `text` without the line numbers of a listing, or `undefined` if some line has none. Numbers that
 * ordinary text may have must be consecutive, or `isThere` must find the text without them. The first line
 * may lack its number, since a text may begin within a line.
 */
export function withoutLineNumbers(text: string, isThere: (text: string) => boolean): string | undefined {
  if (text.length > maxPasted) return undefined;
  const all = text.split("\n");
  const end = all.at(-1) === "" ? all.length - 1 : all.length;
  const lines = all.slice(0, end);
  if (lines.length === 0) return undefined;
  const bareBy = (form: RegExp, from: number) =>
    all.map((line, at) => (at < from ? line : line.replace(form, ""))).join("\n");
  for (const from of lines.length > 2 ? [0, 1] : [0]) {
    const numbered = lines.slice(from);
    if (numbered.every((line) => listedLine.test(line))) return bareBy(listedLine, from);
    for (const form of looseForms) {
      const numbers = numbered.map((line) => Number(form.exec(line)?.[1]));
      if (numbers.some(Number.isNaN)) continue;
      const isRun = numbers.length > 1 && numbers.every((number, at) => number === numbers[0]! + at);
      const bare = bareBy(form, from);
      if ((isRun && from === 0) || (isClear(form) && isThere(bare))) return bare;
    }
  }
  return undefined;
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

/** Maximum units of a line that its number and its padding take. */
const maxNumbered = 64;

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
