/** Syntax colours. Each language is loaded when the first file in it is shown. */
import type { LanguageFn } from "highlight.js";
import { createLowlight } from "lowlight";

/** A part of a line, with the class of its colour. */
export interface SyntaxToken {
  readonly text: string;
  readonly name: string | undefined;
}

type Load = () => Promise<{ readonly default: LanguageFn }>;

const languages: Readonly<Record<string, Load>> = {
  bash: () => import("highlight.js/lib/languages/bash"),
  c: () => import("highlight.js/lib/languages/c"),
  cpp: () => import("highlight.js/lib/languages/cpp"),
  csharp: () => import("highlight.js/lib/languages/csharp"),
  css: () => import("highlight.js/lib/languages/css"),
  dart: () => import("highlight.js/lib/languages/dart"),
  diff: () => import("highlight.js/lib/languages/diff"),
  dockerfile: () => import("highlight.js/lib/languages/dockerfile"),
  elixir: () => import("highlight.js/lib/languages/elixir"),
  go: () => import("highlight.js/lib/languages/go"),
  graphql: () => import("highlight.js/lib/languages/graphql"),
  haskell: () => import("highlight.js/lib/languages/haskell"),
  ini: () => import("highlight.js/lib/languages/ini"),
  java: () => import("highlight.js/lib/languages/java"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  kotlin: () => import("highlight.js/lib/languages/kotlin"),
  less: () => import("highlight.js/lib/languages/less"),
  lua: () => import("highlight.js/lib/languages/lua"),
  makefile: () => import("highlight.js/lib/languages/makefile"),
  markdown: () => import("highlight.js/lib/languages/markdown"),
  perl: () => import("highlight.js/lib/languages/perl"),
  php: () => import("highlight.js/lib/languages/php"),
  protobuf: () => import("highlight.js/lib/languages/protobuf"),
  python: () => import("highlight.js/lib/languages/python"),
  r: () => import("highlight.js/lib/languages/r"),
  ruby: () => import("highlight.js/lib/languages/ruby"),
  rust: () => import("highlight.js/lib/languages/rust"),
  scala: () => import("highlight.js/lib/languages/scala"),
  scss: () => import("highlight.js/lib/languages/scss"),
  sql: () => import("highlight.js/lib/languages/sql"),
  swift: () => import("highlight.js/lib/languages/swift"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
};

/** The languages of file names whose end is not the language's name. */
const byEnd: Readonly<Record<string, string>> = {
  ...{ sh: "bash", zsh: "bash", bashrc: "bash", h: "c", cc: "cpp", cxx: "cpp", hpp: "cpp", cs: "csharp" },
  ...{ patch: "diff", ex: "elixir", exs: "elixir", gql: "graphql", hs: "haskell", toml: "ini", cfg: "ini" },
  ...{ js: "javascript", mjs: "javascript", cjs: "javascript", jsx: "javascript", jsonc: "json" },
  ...{ kt: "kotlin", kts: "kotlin", mk: "makefile", md: "markdown", pl: "perl", proto: "protobuf" },
  ...{ py: "python", pyi: "python", rb: "ruby", rs: "rust", ts: "typescript", mts: "typescript" },
  ...{ cts: "typescript", tsx: "typescript", html: "xml", svg: "xml", vue: "xml", yml: "yaml" },
};

/** Returns the language of a file by its name, if there are colours for it. */
export function languageOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const end = name.slice(name.lastIndexOf(".") + 1);
  const found = byEnd[end] ?? end;
  return Object.hasOwn(languages, found) ? found : undefined;
}

const lowlight = createLowlight();
const loading = new Map<string, Promise<void>>();

/** Loads a language. A page whose worker has gone goes on without its colours. */
export function loadLanguage(name: string): Promise<void> {
  const begun =
    loading.get(name) ??
    languages[name]!().then(
      (language) => lowlight.register(name, language.default),
      () => void loading.delete(name),
    );
  loading.set(name, begun);
  return begun;
}

/** Consecutive lines that are coloured together, when the first of them is shown. */
export class Block {
  readonly lines: string[] = [];
  readonly language: string | undefined;
  #tokens: readonly (readonly SyntaxToken[])[] | undefined;

  constructor(language: string | undefined) {
    this.language = language;
  }

  /** Returns the tokens of a line. Until the language is loaded, that is the line as one token. */
  tokensAt(index: number): readonly SyntaxToken[] {
    const { language, lines } = this;
    if (language !== undefined && lowlight.registered(language)) this.#tokens ??= colour(language, lines);
    return this.#tokens?.[index] ?? [{ text: lines[index] ?? "", name: undefined }];
  }
}

/** Maximum characters of a line that is coloured: a longer one is data, or made by a program. */
const maxCharacters = 2000;

function colour(language: string, lines: readonly string[]): readonly (readonly SyntaxToken[])[] {
  if (lines.some((line) => line.length > maxCharacters)) return [];
  const found: SyntaxToken[][] = [[]];
  const add = (node: Node, name: string | undefined) => {
    if (node.type === "text") {
      for (const [index, text] of node.value!.split("\n").entries()) {
        if (index > 0) found.push([]);
        if (text !== "") found.at(-1)!.push({ text, name });
      }
    } else for (const child of node.children ?? []) add(child, node.properties?.className?.join(" ") ?? name);
  };
  add(lowlight.highlight(language, lines.join("\n")) as Node, undefined);
  return found;
}

/** The part of a syntax tree (hast) that a highlighter makes. */
interface Node {
  readonly type: string;
  readonly value?: string;
  readonly properties?: { readonly className?: readonly string[] };
  readonly children?: readonly Node[];
}
