import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What is said of one component. */
export interface Notice {
  /** With its version. */
  readonly name: string;
  /** SPDX expression. */
  readonly license: string;
  /** Copyright and licence, as the authors give them. */
  readonly text: string;
}

/** The standard text is used for what comes without one. */
type WithoutText = Readonly<Record<string, { readonly license: string; readonly copyright: string }>>;

const packageFolder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;
/** Packages that were bundled into one which is installed: their files are regions of its files. */
const bundledInto = /^\/\/#region .*node_modules\/(?:\.pnpm\/[^/]+\/node_modules\/)?((?:@[^/]+\/)?[^/\s]+)/gm;

/** The folders of the packages that these files are of, and of those that were bundled into them. */
export function packagesOf(files: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const file of files) {
    const [folder] = packageFolder.exec(file) ?? [];
    if (folder === undefined) continue;
    folders.add(folder);
    const modules = folder.slice(0, folder.lastIndexOf("/node_modules/") + "/node_modules".length);
    for (const [, name] of readFileSync(file, "utf8").matchAll(bundledInto))
      folders.add(join(modules, name!));
  }
  return [...folders].sort();
}

/** What the package in a folder says of itself. Throws when there is no licence text. */
export function noticeOf(folder: string, withoutText: WithoutText): Notice {
  const name = folder.slice(folder.lastIndexOf("/node_modules/") + "/node_modules/".length);
  const known = withoutText[name];
  if (known !== undefined)
    return { name, license: known.license, text: `${known.copyright}\n\n${standard("MIT")}` };
  const files = existsSync(folder)
    ? readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    : [];
  if (files.length === 0) throw new Error(`${name} has no licence text; add it to components.json`);
  const texts = files.sort().map((file) => readFileSync(join(folder, file), "utf8"));
  // A SPDX document names the licence and does not hold it.
  if (files.every((file) => file.endsWith(".spdx"))) texts.push(readFileSync(apache, "utf8"));
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return { name: `${name} ${version}`, license, text: texts.join("\n\n") };
}

const apache = join(import.meta.dir, "../../LICENSE");

const standard = (license: string): string =>
  readFileSync(join(import.meta.dir, "texts", `${license}.txt`), "utf8");

/** The crates whose sources a program compiled of Rust names, for its panics. */
export function cratesIn(program: string): { name: string; version: string }[] {
  const found = new Map<string, string>();
  for (const [, name, version] of program.matchAll(
    /\/index\.crates\.io-[0-9a-f]+\/([a-z0-9_-]+?)-(\d[0-9a-z.+-]*)\//g,
  ))
    found.set(name!, version!);
  return [...found].sort().map(([name, version]) => ({ name, version }));
}

const line = "=".repeat(80);

/** All notices as one text; a text that several components have stands there once. */
export function renderNotices(notices: readonly Notice[]): string {
  const byText = new Map<string, string[]>();
  for (const { name, license, text } of notices) {
    const known = text
      .replaceAll("\r\n", "\n")
      .replaceAll(/[ \t]+$/gm, "")
      .trim();
    byText.set(known, [...(byText.get(known) ?? []), `${name} (${license})`]);
  }
  const parts = [...byText].map(([text, names]) => `${line}\n${names.join("\n")}\n${line}\n\n${text}\n`);
  return `${head}\n${parts.join("\n")}`;
}

const head = `Notices about the software of others in the executables coder and shell. The licence of the rest is in LICENSE.
Written by npm run suite -- licenses.
`;
