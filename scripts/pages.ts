import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { bannedPhrasesIn } from "./comments.ts";

/** The pages about the present. The list of changes is about the past, and generated pages name no files. */
const pages = [
  "{CONTRIBUTING,README,SECURITY}.md",
  "docs/*.md",
  "docs/{decisions,specification}/*.md",
  "src/**/README.md",
];

/**
 * Finds false statements on pages: names of absent files, and dead links. Also finds phrases that only this
 * project uses.
 */
export async function findPageFaults(root: string): Promise<string[]> {
  const paths = pages.flatMap((glob) => [...new Bun.Glob(glob).scanSync(root)]).sort();
  const faults = await Promise.all(
    paths.map(async (page) => {
      const text = await Bun.file(join(root, page)).text();
      return [...deadPaths(text, root, page), ...deadLinks(text, root, page), ...bannedPhrases(text)].map(
        (fault) => `${page} ${fault}`,
      );
    }),
  );
  return faults.flat();
}

const folders = /^(?:src|tests|scripts|docs|bench)\//;

/** A path of a TypeScript file below `src`, without the `src/`. A bare name has no folder. */
const sourcePath = /^[\w.-]+\/[\w./*-]+\.ts$/;

/** The README of a room, which names its files without their folder. */
const readme = /^src\/.*README\.md$/;

/**
 * Finds paths in backticks that lead nowhere. Stars and braces are those of globs; `*.rs` is not ours. A
 * README may also name the files of its own room.
 */
function deadPaths(text: string, root: string, page: string): string[] {
  const isReadme = readme.test(page);
  const tops = [root, join(root, "src"), ...(isReadme ? [join(root, dirname(page))] : [])];
  return [...text.matchAll(/`([^`\s]+)`/g)]
    .map(([, path = ""]) => path)
    .filter((path) => folders.test(path) || sourcePath.test(path) || (isReadme && path.endsWith(".ts")))
    .filter((path) => !path.endsWith(".rs") && !tops.some((top) => isThere(top, path)))
    .map((path) => `names ${path}, which is not there`);
}

function isThere(folder: string, path: string): boolean {
  if (!/[*{]/.test(path)) return existsSync(join(folder, path));
  return !new Bun.Glob(path).scanSync({ cwd: folder, onlyFiles: false }).next().done;
}

/** Finds links to absent files of the project. */
const deadLinks = (text: string, root: string, page: string): string[] =>
  [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(root, dirname(page), target)))
    .map((target) => `links to ${target}, which is not there`);

/** Finds the banned phrases of each paragraph, with its first line. Blocks of code quote others. */
function bannedPhrases(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, (code) => code.replace(/[^\n]/g, ""));
  return [...prose.matchAll(/(?:.+\n?)+/g)].flatMap(({ 0: paragraph, index }) =>
    bannedPhrasesIn(paragraph).map(
      (fault) => `says ${fault} (line ${prose.slice(0, index).split("\n").length})`,
    ),
  );
}
