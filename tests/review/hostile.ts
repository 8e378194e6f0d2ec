/** Names that try to break out of the text of a page, a style, a script, an image or a terminal. */
export const hostileNames: readonly string[] = [
  '<img src=x onerror="globalThis.broken=true">',
  "<script>globalThis.broken=true<\u2215script>.ts",
  '"><svg onload=alert(1)>',
  "'onmouseover='alert(1)",
  "javascript:alert(1)",
  "}body{display:none}",
  "&lt;b&gt;&#x3c;",
  "\u001b[2J\u001b]0;owned\u0007.txt",
  "invoice\u202egnp.exe",
  "a\u200bb\ufeff.md",
  "new\nline.txt",
  "%2e%2e%2f..txt",
  "__proto__",
  "constructor.js",
  "`${globalThis.broken=true}`",
  "#seq=1?path=x&y",
];

/** Contents with such attempts, also from within syntax highlighting of HTML. */
export const hostileContents: readonly string[] = [
  '<script>globalThis.broken = true</script><img src="x" onerror="globalThis.broken=true">\n',
  "<svg xmlns='http://www.w3.org/2000/svg' onload='globalThis.broken=true'><script>globalThis.broken=true</script></svg>\n",
  "<style>body{display:none} @import url(http://evil.example/x.css);</style>\n",
  "</code></div><iframe srcdoc='<script>parent.broken=true</script>'></iframe>\n",
  "\u001b[31mred\u001b]8;;http://evil.example\u0007link\u001b]8;;\u0007\n",
  "if (access \u202e} \u2066// only admins\u2069 \u2066) {\n",
  "<a href='javascript:globalThis.broken=true'>x</a><base href='http://evil.example/'>\n",
  "{{constructor.constructor('globalThis.broken=true')()}} ${globalThis.broken=true}\n",
];
