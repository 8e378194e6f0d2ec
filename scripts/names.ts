/**
 * `npm test -- --only names`: checks names by rules that neither the compiler nor the linter has. Names must
 * not be made of words that only this project uses for a thing; an exported name has one meaning in the whole
 * tree; a citation of the specification leads to an existing section. Comments and pages have rules too:
 * `comments.ts`, `sentences.ts`, `pages.ts`.
 */
import { basename, dirname, join } from "node:path";
import type { Node } from "typescript/unstable/ast";
import { SyntaxKind } from "typescript/unstable/ast";
import { findBannedPhrases } from "./comments.ts";
import { findPageFaults } from "./pages.ts";
import { compareCounts, findSentences, lowerCounts, readCounts, readNewLines } from "./sentences.ts";
import { lineOf, parseSources, type Source, visitNodes } from "./syntax.ts";
import { bannedEverywhere, bannedWords, fieldNames, sharedNames } from "./vocabulary.ts";

/** A name that a file exports. */
interface ExportedName {
  readonly name: string;
  readonly path: string;
}

/** Finds every breach of the rules in the project at `root`, one sentence each. */
export async function findNamingFaults(root: string): Promise<string[]> {
  const paths = [...new Bun.Glob("{src,tests,bench}/**/*.{ts,tsx}").scanSync(root)].sort();
  const sources = await parseSources(root, paths);
  const exported = sources.flatMap(exportedNames);
  return [
    ...paths.flatMap((path) => bannedIn(basename(path, ".ts"), path)),
    ...paths.flatMap(namelessErrors),
    ...exported.flatMap(({ name, path }) => bannedIn(name, path)),
    ...sources.flatMap(bannedInside),
    ...findDuplicates(exported),
    ...(await findBannedPhrases(root)),
    ...(await findDeadCitations(root)),
    ...(await findBannedInGlossary(root)),
    ...(await findPageFaults(root)),
  ];
}

/** Returns the words of `runCall`, `line-buffer` or `O_PATH`, in lower case. */
export const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== "");

/** Finds a table of errors that is not named after its room. Only the shared one is `errors.ts`. */
const namelessErrors = (path: string): string[] =>
  path.startsWith("src/") && basename(path) === "errors.ts" && path !== "src/base/errors.ts"
    ? [`${path}: name a table of errors after its room, such as move-errors.ts`]
    : [];

function bannedIn(name: string, path: string): string[] {
  if (fieldNames[name] !== undefined) return [];
  return wordsOf(name).flatMap((word) => {
    const instead = bannedWords[word];
    return instead === undefined ? [] : [`${path}: ${name} says "${word}"; ${instead}`];
  });
}

const declarations: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.BindingElement,
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.MethodSignature,
  SyntaxKind.Parameter,
  SyntaxKind.PropertyAssignment,
  SyntaxKind.PropertyDeclaration,
  SyntaxKind.PropertySignature,
  SyntaxKind.VariableDeclaration,
]);

/**
 * A plain name. Excludes patterns, whose names are declarations of their own, and quoted keys, which other
 * programs define.
 */
const isName = /^#?[\w$]+$/;

/**
 * Finds names of any declaration, exported or not, that contain one of the few words without a plain meaning
 * in code.
 */
function bannedInside(source: Source): string[] {
  const faults: string[] = [];
  visitNodes(source.syntax, (node) => {
    if (!declarations.has(node.kind)) return;
    const name = (node as { readonly name?: Node }).name?.getText() ?? "";
    if (!isName.test(name)) return;
    for (const word of wordsOf(name))
      if (bannedEverywhere.has(word))
        faults.push(`${source.path}:${lineOf(source, node)}: ${name} says "${word}"; ${bannedWords[word]}`);
  });
  return faults;
}

/** Returns the names that a file declares and exports. Re-exported names belong to another file. */
export function exportedNames({ path, syntax }: Source): ExportedName[] {
  const found: ExportedName[] = [];
  syntax.forEachChild((statement) => {
    const { modifiers } = statement as { readonly modifiers?: readonly Node[] };
    if (!modifiers?.some(({ kind }) => kind === SyntaxKind.ExportKeyword)) return;
    for (const name of declaredNames(statement)) found.push({ name, path });
  });
  return found;
}

function declaredNames(statement: Node): string[] {
  const { name, declarationList } = statement as {
    readonly name?: Node;
    readonly declarationList?: { readonly declarations: readonly { readonly name: Node }[] };
  };
  return [name, ...(declarationList?.declarations.map((declaration) => declaration.name) ?? [])]
    .filter((node) => node !== undefined)
    .map((node) => node.getText());
}

function findDuplicates(exported: readonly ExportedName[]): string[] {
  const homes = new Map<string, Set<string>>();
  for (const { name, path } of exported) homes.set(name, (homes.get(name) ?? new Set()).add(path));
  return [...homes]
    .filter(([name, paths]) => paths.size > 1 && sharedNames[name] === undefined)
    .map(
      ([name, paths]) =>
        `${name} is exported by ${[...paths].join(" and ")}: one exported name has one meaning`,
    );
}

const documents = ["coder", "shell", "bus"] as const;

/** A citation: the document, and the numbers of its section, such as `shell §8.1`. */
const citation = /\b(coder|shell|bus) §(\d+(?:\.\d+)*)/g;

/** A citation inside a document of the specification. Without a name it means a section of that document. */
const ownCitation = /(?<!\b(?:coder|shell|bus) )§(\d+(?:\.\d+)*)/g;

/** The files that may contain citations. Bun does not support nested braces. */
const citing = ["*.md", "{src,tests,scripts,bench,docs}/**/*.{ts,md}"];

/** Finds citations of sections that no document of docs/specification has, and those in another form. */
async function findDeadCitations(root: string): Promise<string[]> {
  const sections = new Map<string, Set<string>>();
  for (const name of documents) {
    const text = await Bun.file(join(root, `docs/specification/${name}.md`)).text();
    sections.set(name, sectionsOf(text));
  }
  const faults: string[] = [];
  for (const path of citing.flatMap((glob) => [...new Bun.Glob(glob).scanSync(root)])) {
    const text = await Bun.file(join(root, path)).text();
    const own = /^docs\/specification\/(\w+)\.md$/.exec(path)?.[1];
    for (const [whole, section = ""] of own === undefined ? [] : text.matchAll(ownCitation))
      if (sections.get(own!)?.has(section) !== true) faults.push(`${path}: ${whole} is no section of it`);
    for (const [whole, name = "", section = ""] of text.matchAll(citation))
      if (sections.get(name)?.has(section) !== true) faults.push(`${path}: ${whole} is no section`);
    if (/\((?:[a-z]+ )?specification(?: of [a-z]+)?, sections? \d/.test(text))
      faults.push(`${path}: cites a specification by words; write "coder §8"`);
  }
  return faults;
}

/**
 * Returns the section numbers in the headings of a document: `## 8. Functions` and `### 8.1 Order` have one
 * each.
 */
export const sectionsOf = (text: string): Set<string> =>
  new Set([...text.matchAll(/^#{2,4} (\d+(?:\.\d+)*)\b/gm)].map(([, number = ""]) => number));

/** Finds words of the glossary that no name may be made of. A row begins with its word, or with several. */
async function findBannedInGlossary(root: string): Promise<string[]> {
  const text = await Bun.file(join(root, "docs/glossary.md")).text();
  return [...text.matchAll(/^\| ([^|]+) \|/gm)]
    .flatMap(([, cell = ""]) => wordsOf(cell))
    .filter((word) => bannedWords[word] !== undefined)
    .map((word) => `docs/glossary.md explains "${word}", which no name may say`);
}

if (import.meta.main) {
  const root = dirname(import.meta.dir);
  if (process.argv.includes("--lower")) await lowerCounts(root);
  const { faults: sentences, falls } = compareCounts(
    await findSentences(root),
    await readCounts(root),
    readNewLines(root),
  );
  const faults = [...(await findNamingFaults(root)), ...sentences];
  for (const fault of faults) console.log(fault);
  if (falls.length > 0)
    console.log(
      `comments: fewer than allowed; bun scripts/names.ts --lower writes it:\n  ${falls.join("\n  ")}`,
    );
  if (faults.length > 0) process.exitCode = 1;
}
