import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import type { DifferenceKind } from "./differences.ts";
import { explainMissing } from "./explain-miss.ts";
import { findMatches } from "./str-replace.ts";

/** Lines that resemble each other little, with all that variations change. */
const lines = [
  "export class Orders {",
  "    constructor(store, clock) {",
  '        this.greeting = "it\'s a fine day";',
  "        this.first = lookup(store, 42) - 7;",
  "    }",
  "",
  "    // Caf\u00e9 prices, as published by the bakery...",
  "    readAll(limit) {",
  "        if (limit <= 0) return undefined;",
  "        const wanted = [...this.queue.values()];",
  "        return wanted.slice(0, limit).map((entry) => entry.total);",
  "    }",
  "",
  "    async discard(reason, timestamp) {",
  "        await Promise.all(this.handlers.map(notify));",
  '        log.warn("dropped", { reason, timestamp });',
  "    }",
  "}",
];

/** A change of a text, the kinds of difference that it makes, and the parts of the text that it changes. */
interface Variation {
  readonly kinds: readonly DifferenceKind[];
  readonly changes: "indent" | "ends" | "breaks" | "words" | "letters" | "quotes" | "dots" | "dashes" | "all";
  readonly vary: (text: string) => string;
}

const eachLine = (text: string, vary: (line: string) => string): string =>
  text
    .split("\n")
    .map((line) => (line === "" ? line : vary(line)))
    .join("\n");

/** Changes the first line that is not blank and stands between such lines, if any. */
const oneLine = (text: string, vary: (lines: string[], at: number) => void): string => {
  const all = text.split("\n");
  const isShown = (line: string | undefined) => line !== undefined && line.trim() !== "";
  const at = all.findIndex((_, index) => [-1, 0, 1].every((by) => isShown(all[index + by])));
  if (at > 0) vary(all, at);
  return all.join("\n");
};

const variations: Readonly<Record<string, Variation>> = {
  "tabs for spaces": {
    kinds: ["tabs"],
    changes: "indent",
    vary: (text) => text.replace(/^( {4})+/gm, (blanks) => "\t".repeat(blanks.length / 4)),
  },
  "half of the spaces": {
    kinds: ["indent"],
    changes: "indent",
    vary: (text) => text.replace(/^( {4})+/gm, (blanks) => " ".repeat(blanks.length / 2)),
  },
  "no indentation": { kinds: ["indent"], changes: "indent", vary: (text) => text.replace(/^ +/gm, "") },
  "deeper indentation": {
    kinds: ["indent"],
    changes: "indent",
    vary: (text) => eachLine(text, (line) => `   ${line}`),
  },
  "two spaces between words": {
    kinds: ["spacing"],
    changes: "words",
    vary: (text) => text.replace(/(\w) (\w)/, "$1  $2"),
  },
  "a tab between words": {
    kinds: ["tabs"],
    changes: "words",
    vary: (text) => text.replace(/(\w) (\w)/, "$1\t$2"),
  },
  "no blanks after commas": {
    kinds: ["spacing"],
    changes: "words",
    vary: (text) => text.replace(/, (\w)/g, ",$1"),
  },
  "trailing blanks": {
    kinds: ["trailing"],
    changes: "ends",
    vary: (text) => eachLine(text, (line) => `${line}  `),
  },
  "a trailing tab": {
    kinds: ["trailing"],
    changes: "ends",
    vary: (text) =>
      oneLine(text, (all, at) => {
        all[at] += "\t";
      }),
  },
  "a carriage return at one end": {
    kinds: ["lineEnds"],
    changes: "ends",
    vary: (text) => text.replace(/([^\n])\n([^\n])/, "$1\r$2"),
  },
  "a line end more": {
    kinds: ["lastBreaks"],
    changes: "breaks",
    vary: (text) => `${text.trimEnd()}\n\n\n\n`,
  },
  "a doubled blank line": {
    kinds: ["blankLines"],
    changes: "breaks",
    vary: (text) => text.replace(/([^\n])\n\n([^\n])/, "$1\n\n\n$2"),
  },
  "a blank line left out": {
    kinds: ["blankLines"],
    changes: "breaks",
    vary: (text) => text.replace(/([^\n])\n\n([^\n])/, "$1\n$2"),
  },
  "lines joined": {
    kinds: ["breaks"],
    changes: "breaks",
    vary: (text) => text.replace(/([^\n])\n +(\w)/, "$1 $2"),
  },
  "upper case": {
    kinds: ["case"],
    changes: "letters",
    vary: (text) => text.replace(/\b[a-z]{3,}\b/g, (word) => word[0]!.toUpperCase() + word.slice(1)),
  },
  "decomposed letters": { kinds: ["accents"], changes: "letters", vary: (text) => text.normalize("NFD") },
  "curly double quotes": {
    kinds: ["quotes"],
    changes: "quotes",
    vary: (text) => text.replace(/"([^"\n]*)"/g, "\u201c$1\u201d"),
  },
  "a curly apostrophe": {
    kinds: ["quotes"],
    changes: "quotes",
    vary: (text) => text.replace(/(\w)'(\w)/g, "$1\u2019$2"),
  },
  "a dash": { kinds: ["dashes"], changes: "dashes", vary: (text) => text.replace(/ - /g, " \u2013 ") },
  "an ellipsis": { kinds: ["ellipses"], changes: "dots", vary: (text) => text.replace("...", "\u2026") },
  "a no-break space": {
    kinds: ["spaces"],
    changes: "words",
    vary: (text) => text.replace(/(\w) (\w)/, "$1\u00a0$2"),
  },
  "a zero-width space": {
    kinds: ["invisible"],
    changes: "letters",
    vary: (text) => text.replace(/(\w)(\w)/, "$1\u200b$2"),
  },
  "a byte order mark": { kinds: ["invisible"], changes: "indent", vary: (text) => `\ufeff${text}` },
  "a Cyrillic letter": {
    kinds: ["lookalikes"],
    changes: "letters",
    vary: (text) => text.replace(/o(?=[^o]*$)/, "\u043e"),
  },
  "escaped line ends": {
    kinds: ["escapes"],
    changes: "breaks",
    vary: (text) => text.replaceAll("\n", "\\n"),
  },
  "escaped tabs": {
    kinds: ["escapes", "tabs"],
    changes: "indent",
    vary: (text) => text.replace(/^( {4})+/gm, (blanks) => "\\t".repeat(blanks.length / 4)),
  },
  "escaped quotes": { kinds: ["escapes"], changes: "quotes", vary: (text) => text.replaceAll('"', '\\"') },
  entities: {
    kinds: ["entities"],
    changes: "quotes",
    vary: (text) => text.replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
  },
  "a changed word": {
    kinds: ["text"],
    changes: "all",
    vary: (text) =>
      oneLine(text, (all, at) => {
        all[at] = all[at]!.replace(/\w{2,}/, "xyzzy");
      }),
  },
  "a line left out": {
    kinds: ["text"],
    changes: "all",
    vary: (text) =>
      oneLine(text, (all, at) => {
        all.splice(at, 1);
      }),
  },
  "a line more": {
    kinds: ["text"],
    changes: "all",
    vary: (text) =>
      oneLine(text, (all, at) => {
        all.splice(at, 0, "    unrelated.call(here);");
      }),
  },
  "lines swapped": {
    kinds: ["text"],
    changes: "all",
    vary: (text) =>
      oneLine(text, (all, at) => {
        all.splice(at - 1, 2, all[at]!, all[at - 1]!);
      }),
  },
};

const names = Object.keys(variations);
const file = `${lines.join("\n")}\n`;

const isMissing = (body: Buffer, sent: string): boolean =>
  runAtOnce(findMatches(body, { old_str: sent, new_str: "", replace_all: false })).count === 0;

const kindsOf = (text: string, sent: string): readonly DifferenceKind[] => {
  const { differences, candidates } = runAtOnce(explainMissing(Buffer.from(text), sent));
  return candidates.length === 0 ? [] : differences.list().map(([kind]) => kind);
};

/** Some whole lines, with or without the last line end. */
const part = fc.record({
  from: fc.nat(lines.length - 5),
  count: fc.integer({ min: 4, max: 8 }),
  isOpen: fc.boolean(),
});

interface Sides {
  readonly before: string;
  readonly text: string;
  readonly after: string;
}

function sidesOf({ from, count, isOpen }: { from: number; count: number; isOpen: boolean }): Sides {
  const end = isOpen ? "" : "\n";
  const text = lines.slice(from, from + count).join("\n") + end;
  const before = lines
    .slice(0, from)
    .map((line) => `${line}\n`)
    .join("");
  return { before, text, after: file.slice(before.length + text.length) };
}

/** Variations that change what another one has to find. */
const hidden: ReadonlySet<string> = new Set(["escaped line ends", "escaped tabs", "entities"]);

/** Returns whether variations may hide each other, or add up to another kind. */
const hasConflict = (first: string, second: string): boolean =>
  first === second || hidden.has(first) || variations[first]!.changes === variations[second]!.changes;

const runs = Number(process.env.CODER_RUNS ?? "1") * 2000;

test.each(names)("the explanation of a miss names one variation and no other: %s", (name) => {
  const { kinds, vary } = variations[name]!;
  let count = 0;
  fc.assert(
    fc.property(part, fc.boolean(), (range, isReverse) => {
      const { before, text, after } = sidesOf(range);
      const varied = vary(text);
      const [body, sent] = isReverse ? [`${before}${varied}${after}`, text] : [file, varied];
      if (!isMissing(Buffer.from(body), sent)) return;
      count++;
      expect(kindsOf(body, sent).toSorted()).toEqual(kinds.toSorted());
    }),
    { numRuns: 200 },
  );
  expect(count).toBeGreaterThan(0);
});

test("the explanation of a miss names no third kind for two variations", () => {
  const counts = new Map<string, number>();
  fc.assert(
    fc.property(part, fc.constantFrom(...names), fc.constantFrom(...names), (range, first, second) => {
      const [one, other] = [variations[first]!, variations[second]!];
      if (hasConflict(first, second)) return;
      const { text } = sidesOf(range);
      const once = one.vary(text);
      const twice = other.vary(once);
      // Each must be effective by itself.
      if ([once, other.vary(text), twice].some((sent) => !isMissing(Buffer.from(file), sent))) return;
      if (twice === once) return;
      counts.set(first, (counts.get(first) ?? 0) + 1);
      const expected = [...new Set([...one.kinds, ...other.kinds])].toSorted();
      const found = kindsOf(file, twice);
      // Two changes can make two lines so different that one counts as another text.
      const named = found.filter((kind) => kind !== "text");
      expect(expected).toEqual(expect.arrayContaining([...named]));
      expect(found).not.toEqual([]);
    }),
    { numRuns: runs },
  );
  expect(counts.size).toBeGreaterThan(names.length / 2);
});
