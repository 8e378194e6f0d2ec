/** Files, and texts that models send to replace parts of them. */
import type { Difference } from "./differences.ts";

/** A file indented by spaces. */
export const spaces = `import { open } from "node:fs";

/** Reads a file. */
export function read(path: string): string {
  const file = open(path);
  try {
    return file.read("utf8");
  } finally {
    file.close();
  }
}

/** Writes a file. */
export function write(path: string, text: string): void {
  const file = open(path);
  try {
    file.write(text);
  } finally {
    file.close();
  }
}

export const greeting = "it's a 'fine' day";
export const pattern = "a\\\\d+\\n";
export const table = { one: 1, two: 2, three: 3 };
`;

/** The file of `spaces`, indented by tabs. */
export const tabs = spaces.replace(/^( {2})+/gm, (blanks) => "\t".repeat(blanks.length / 2));
/** The file of `spaces`, with CRLF. */
export const crlf = spaces.replaceAll("\n", "\r\n");

const python = `class Store:
    def __init__(self, path):
        self.path = path

    def load(self):
        if not self.path:
            return None
        with open(self.path) as file:
            return file.read()

    def save(self, text):
        with open(self.path, "w") as file:
            file.write(text)
`;

const trailing = "first line  \nsecond line\n  \nfourth line\t\nfifth";
const prose = "He said “no” – and left…\nIt cost 5 € then.\nCafé, naïve.\n";
const html = '<a href="x">Tom & Jerry</a>\n<b>1 < 2</b>\n';
const json = '{\n  "name": "coder",\n  "path": "C:\\\\temp\\\\new",\n  "text": "one\\ntwo"\n}\n';

type Case = readonly [what: string, file: string, sent: string, differs: Difference, lines: string];

/** Texts that models send, the difference that keeps each from being found, and the lines that were meant. */
export const missCases: readonly Case[] = [
  ["spaces for tabs", tabs, '    return file.read("utf8");', "tabs", "7"],
  [
    "spaces for tabs, several lines",
    tabs,
    '  const file = open(path);\n  try {\n    return file.read("utf8");\n',
    "tabs",
    "5-7",
  ],
  [
    "four spaces for each tab",
    tabs,
    "    try {\n        file.write(text);\n    } finally {\n",
    "tabs",
    "16-18",
  ],
  [
    "tabs for spaces",
    spaces,
    "\tconst file = open(path);\n\ttry {\n\t\tfile.write(text);\n",
    "tabs",
    "15-17",
  ],
  ["a tab between words", spaces, "export const\tgreeting", "tabs", "23"],
  ["spaces between words for a tab", "one\ttwo\nthree\tfour\n", "three    four", "tabs", "2"],
  ["too little indentation", python, "  if not self.path:\n    return None\n", "indent", "6-7"],
  ["no indentation", python, "if not self.path:\n    return None\n", "indent", "6-7"],
  ["no indentation at all", python, "with open(self.path) as file:\nreturn file.read()", "indent", "8-9"],
  [
    "too much indentation",
    python,
    "        def load(self):\n            if not self.path:\n",
    "indent",
    "5-6",
  ],
  [
    "indentation of another style",
    spaces,
    '    try {\n        return file.read("utf8");\n    }',
    "indent",
    "6-8",
  ],
  [
    "indentation of one line",
    spaces,
    "    const file = open(path);\n  try {\n    file.write(text);",
    "indent",
    "15-17",
  ],
  ["an indented line that has none", spaces, "  export const greeting", "indent", "23"],
  [
    "blanks at the end of a line",
    spaces,
    "  const file = open(path);  \n  try {\n    file.write(text);\n",
    "trailing-space",
    "15-17",
  ],
  [
    "a tab at the end of a line",
    spaces,
    "export const greeting = \"it's a 'fine' day\";\t\n",
    "trailing-space",
    "23",
  ],
  ["blanks left out at the end", trailing, "first line\nsecond line\n", "trailing-space", "1-2"],
  ["a blank line without its blanks", trailing, "second line\n\nfourth line", "trailing-space", "2-4"],
  [
    "a blank line with blanks",
    python,
    "        self.path = path\n    \n    def load(self):",
    "trailing-space",
    "3-5",
  ],
  ["a tab left out at the end", trailing, "fourth line\nfifth", "trailing-space", "4-5"],
  ["a break that the last line has not", trailing, "fifth\n", "trailing-space", "5"],
  ["breaks that the file has not at its end", json, '  "text": "one\\ntwo"\n}\n\n', "trailing-space", "4-5"],
  [
    "CRLF where some lines have it",
    `${spaces}x\r\n`,
    "  try {\r\n    file.write(text);\r\n",
    "crlf",
    "16-17",
  ],
  ["LF where some lines have CRLF", `${crlf}x\n`, "  try {\n    file.write(text);\n", "crlf", "16-17"],
  ["a lone CR for a line break", spaces, "  try {\r    file.write(text);", "crlf", "16-17"],
  ["curly double quotes", spaces, "import { open } from “node:fs”;", "unicode-quotes", "1"],
  ["curly single quotes", spaces, "it’s a ‘fine’ day", "unicode-quotes", "23"],
  ["straight quotes for curly ones", prose, 'He said "no"', "unicode-quotes", "1"],
  ["a hyphen for a dash", prose, "“no” - and left", "unicode-quotes", "1"],
  ["dots for an ellipsis", prose, "and left...\nIt cost", "unicode-quotes", "1-2"],
  ["a no-break space", spaces, "export const\u00a0table", "unicode-quotes", "25"],
  ["a space that the file has as a no-break space", "5\u00a0% of it\n", "5 % of it", "unicode-quotes", "1"],
  ["a zero-width space", spaces, "export const \u200btable", "unicode-quotes", "25"],
  ["decomposed letters", prose, "Cafe\u0301, nai\u0308ve.", "unicode-quotes", "3"],
  ["an escaped line break", spaces, "  try {\\n    file.write(text);", "escape", "16-17"],
  ["escaped tabs", tabs, "\\ttry {\\n\\t\\tfile.write(text);", "escape", "16-17"],
  ["escaped quotes", spaces, 'from \\"node:fs\\";', "escape", "1"],
  ["escaped single quotes", spaces, "it\\'s a \\'fine\\' day", "escape", "23"],
  ["a backslash for two", spaces, 'pattern = "a\\d+\\n"', "escape", "24"],
  ["two backslashes for one", spaces, 'pattern = "a\\\\\\\\d+\\\\n"', "escape", "24"],
  ["an escape as what it stands for", json, '"text": "one\ntwo"', "escape", "4"],
  ["entities for characters", html, "&lt;b&gt;1 &lt; 2&lt;/b&gt;", "escape", "2"],
  ["an ampersand as an entity", html, "Tom &amp; Jerry", "escape", "1"],
  ["a Unicode escape", prose, "It cost 5 \\u20ac then.", "escape", "2"],
  [
    "a line left out",
    spaces,
    'export function read(path: string): string {\n  try {\n    return file.read("utf8");\n',
    "none",
    "4-7",
  ],
  [
    "a line too many",
    spaces,
    "  try {\n    // Write it.\n    file.write(text);\n  } finally {\n",
    "none",
    "16-18",
  ],
  [
    "an ellipsis for lines",
    spaces,
    "export function write(path: string, text: string): void {\n  // ...\n    file.close();\n  }\n}\n",
    "none",
    "14-21",
  ],
  ["another name", spaces, "    file.writes(texts);\n  } finally {", "none", "17-18"],
  ["a typo", spaces, "export const taple = { one: 1, two: 2, three: 3 };", "none", "25"],
  ["other case", spaces, "Export Const Table = { one: 1, two: 2, three: 3 };", "none", "25"],
  ["a space too many", spaces, "{ one: 1,  two: 2, three: 3 }", "none", "25"],
  ["a space left out", spaces, "{one: 1, two: 2, three: 3}", "none", "25"],
  [
    "a comment that is gone",
    python,
    "        # Before the first save.\n        if not self.path:\n            return None\n",
    "none",
    "6-7",
  ],
  [
    "line numbers",
    spaces,
    "15→  const file = open(path);\n16→  try {\n17→    file.write(text);\n",
    "none",
    "15-17",
  ],
  ["line numbers of cat -n", spaces, "    23\texport const greeting = \"it's a 'fine' day\";", "none", "23"],
  ["tabs and trailing blanks", tabs, "    try {  \n        file.write(text);\n", "tabs", "16-17"],
  ["quotes and indentation", spaces, "return file.read(“utf8”);\n} finally {", "unicode-quotes", "7-8"],
  [
    "escapes and indentation",
    python,
    'with open(self.path, \\"w\\") as file:\\nfile.write(text)',
    "escape",
    "12-13",
  ],
  ["something else altogether", spaces, "SELECT id, total FROM orders WHERE shipped IS NULL;", "none", ""],
  ["blanks alone", spaces, "\t \t", "none", ""],
  ["a character that is nowhere", spaces, "\u{1f600}", "none", ""],
  ["text for an empty file", "", "anything", "none", ""],
];
