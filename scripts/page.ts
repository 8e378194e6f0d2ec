/** Bundles the page for people, `src/review/page`, into the program. */
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import type { BunPlugin } from "bun";

const root = join(import.meta.dir, "..");
const folder = join(root, "src/review/page");

/** Maximum bytes of everything that the page adds to the program. */
const maxBytes = 1024 * 1024;

/** The page in the form of `src/review/page-files.ts`. */
export interface Page {
  readonly files: Readonly<Record<string, { readonly type: string; readonly text: string }>>;
  readonly app: string;
  /** The paths of all files that it is made of. */
  readonly sources: readonly string[];
}

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

const common = {
  root: folder,
  target: "browser",
  format: "esm",
  minify: true,
  define: { "process.env.NODE_ENV": '"production"' },
  jsx: { runtime: "automatic", importSource: "preact", development: false },
} as const;

/** Bundles the page. Languages of the highlighter are files of their own, which the page loads as needed. */
export async function buildPage(): Promise<Page> {
  const { outputs, metafile } = await Bun.build({
    ...common,
    entrypoints: [join(folder, "main.tsx")],
    splitting: true,
    naming: { entry: "[name].js", chunk: "[name]-[hash].js" },
    metafile: true,
  });
  const scripts = await Promise.all(
    outputs.map(async (output) => [basename(output.path), await output.text()] as const),
  );
  const statics = ["index.html", "page.css", "icon.svg"].map(
    (name) => [name, readFileSync(join(folder, name), "utf8")] as const,
  );
  const files = Object.fromEntries(
    [...statics, ...scripts].map(([name, text]) => [name, { type: types[name.split(".").at(-1)!]!, text }]),
  );
  const app = await buildAppPage();
  const bytes = [...Object.values(files), app].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (bytes > maxBytes) throw new Error(`The page has ${bytes} bytes; ${maxBytes} are allowed.`);
  const sources = [...sourcesIn(metafile!), ...app.sources];
  return { files, app: app.text, sources: [...new Set(sources)].sort() };
}

/**
 * Bundles the page for a host of MCP Apps: one HTML text, whose script has all languages, since a host lets
 * it load nothing.
 */
async function buildAppPage(): Promise<{ readonly text: string; readonly sources: readonly string[] }> {
  const { outputs, metafile } = await Bun.build({
    ...common,
    entrypoints: [join(folder, "main-in-host.tsx")],
    metafile: true,
  });
  const [script = ""] = await Promise.all(outputs.map((output) => output.text()));
  const style = readFileSync(join(folder, "page.css"), "utf8");
  const text = readFileSync(join(folder, "index.html"), "utf8")
    .replace(/ *<link rel="icon".*\n/, "")
    .replace(/<link rel="stylesheet".*>/, () => `<style>${style}</style>`)
    .replace(/<script type="module".*<\/script>/, "")
    .replace("</body>", () => `<script type="module">${withoutTags(script)}</script></body>`);
  return { text, sources: sourcesIn(metafile!) };
}

/** Returns the script without tags of scripts in its texts, which HTML would read. */
const withoutTags = (script: string): string =>
  script.replaceAll(/<(\/?)script/gi, (tag, slash) => (slash === "" ? `\\x3c${tag.slice(1)}` : `<\\/script`));

const sourcesIn = ({ outputs }: Bun.BuildMetafile): string[] =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );

/**
 * Returns the plugin that replaces the module without a page by the page. It is compressed, because an
 * executable contains each text three times: in the program, in its bytecode and in its map.
 */
export const pageTexts = ({ files, app }: Page): BunPlugin => ({
  name: "page-texts",
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/]review[\\/]page-files\.ts$/ }, () => ({
      contents: `import { brotliDecompressSync } from "node:zlib";
const compressed = "${compress(JSON.stringify({ files, app }))}";
let page;
export const readPage = () =>
  (page ??= JSON.parse(brotliDecompressSync(Buffer.from(compressed, "base64")).toString()));`,
      loader: "js",
    }));
  },
});

/** Compresses a text in a fraction of the time that the highest quality takes. */
const compress = (text: string): string =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }).toString("base64");

if (import.meta.main) {
  const { files, app } = await buildPage();
  const texts = [...Object.entries(files), ["the page for hosts", { text: app }] as const];
  for (const [name, { text }] of texts) console.log(Buffer.byteLength(text), name);
}
