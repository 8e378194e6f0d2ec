/** Typical patterns, in typical lines. */
import { expect, test } from "bun:test";
import { searchEachLine, searchIn } from "./lines.test-kit.ts";

/** Lines of source trees, in three languages and with three kinds of endings. */
const corpus = Buffer.from(
  [
    "import { readFileSync, writeFileSync } from 'node:fs';",
    "export default async function main(argv: string[]): Promise<void> {",
    "  const { name, version } = require('./package.json');\r",
    '  "version": "12.3.456", // TODO(anna): bump on 2024-02-29',
    "\tthrow new TypeError(`größer als ${limit}: ${value}`);",
    "class HttpError extends Error { static readonly E_CONN_RESET = 'ECONNRESET'; }",
    "",
    "   ",
    "# -*- coding: utf-8 -*-  ",
    "def test_naïve_case(self): return None  # FIXME: see https://example.org/a?b=c#d\r",
    "    assert re.match(r'^\\w+$', 'ПРИМЕР') is not None and x != y",
    "if (a && b || !c) { return false; } else if (d) return true;",
    "let s = \"it's a ſtrange \u212aind of 'quote'\"; let n = 0xDEADBEEF + 1e-9;",
    "192.168.0.1 user@example.com deadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
    "for (int i = 0; i < MAX_BUFFER_SIZE; ++i) buf[i] = (uint8_t)(i & 0xff);",
    "fn parse<'a>(input: &'a str) -> Result<Vec<Token<'a>>, Box<dyn std::error::Error>> {",
    "    .map(|x| x * 2).filter(|x| x % 3 == 0).collect::<Vec<_>>();",
    "日本語のコメント：エラー処理 🎉 done\u2028next\u0085line",
    `const blob = "${"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo".repeat(200)}"; // ${"é".repeat(900)} end`,
    "SELECT id, email FROM users WHERE deleted_at IS NULL AND role IN ('admin', 'owner');",
    "\ufeffvoid eaddrinuse(void); /* EADDRINUSE: Address already in use */",
    "last line without an ending",
  ].join("\n"),
);

test.each(
  String.raw`function\s+\w+\(
TODO|FIXME|XXX
(?i)todo\(\w+\)
^\s*export\s+(default|const|function)
^import .* from ['"]
\bfoo\b|\bargv\b
(?i)error
(?i)\beaddrinuse\b
\d{4}-\d{2}-\d{2}
https?://[^\s"')]+
[A-Za-z_][A-Za-z0-9_]*Error\b
\w+Error\b
(async\s+)?function\s*\*?\s*\w*
class\s+(\w+)\s+extends\s+(\w+)
\p{Lu}\p{Ll}+\p{Lu}\p{Ll}+
[^\x00-\x7F]+
\$\{[^}]+\}
\.(map|filter|reduce)\(
const\s+\{[^}]*\}\s*=\s*require\(
^\s*(//|#|\*)\s*-
[0-9a-f]{40}
\b[A-Z][A-Z0-9_]{3,}\b
"version":\s*"\d+\.\d+\.\d+"
return (true|false);$
(?i:get|set|\bs)\w+
^\s*$
\s+$
(\w+)\[(\w+)\]\s*=\s*\((\w+)\)
if\s*\(.*&&.*\)\s*\{
(?i)größe|naïve|пример
[\p{Cyrillic}\p{Han}]+
\b\d{1,3}(\.\d{1,3}){3}\b
.{120,}
[\w.+-]+@[\w-]+\.\w+
'[^']*'
(?x) fn \s+ (\w+) # a name
\A\t\S+.*;\z
\b\w{30,}\b
^(?:def|class)\b.*:\s
\x{1F389}|\x{2028}n|end$`.split("\n"),
)("the pattern %s in source lines", (pattern) => {
  for (const maxLineBytes of [4096, 80]) {
    const requested = { pattern, regex: true, ignoreCase: false, maxLineBytes };
    const found = searchIn(corpus, requested);
    expect(found).toEqual(searchEachLine(corpus, requested));
    expect(maxLineBytes === 80 || found.length > 0).toBe(true);
  }
});
