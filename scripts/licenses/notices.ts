import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The notice of one component. */
export interface Notice {
  /** The name with the version. */
  readonly name: string;
  /** The licence as an SPDX expression. */
  readonly license: string;
  /** The copyright and licence text of the authors. */
  readonly text: string;
}

/** The components without a licence text of their own, which get the standard one. */
type WithoutText = Readonly<Record<string, { readonly license: string; readonly copyright: string }>>;

const packageFolder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;
/** The packages bundled into an installed one, whose files are regions of its files. */
const bundledInto = /^\/\/#region .*node_modules\/(?:\.pnpm\/[^/]+\/node_modules\/)?((?:@[^/]+\/)?[^/\s]+)/gm;

/** Returns the folders of the packages that these files belong to, and of those bundled into them. */
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

/** Returns the notice of the package in a folder. Throws if it has no licence text. */
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
  // An SPDX document names the licence but does not contain its text.
  if (files.every((file) => file.endsWith(".spdx"))) texts.push(readFileSync(apache, "utf8"));
  // An alias is installed in a folder of another name.
  const installed = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const { version, license } = installed;
  return { name: `${installed.name ?? name} ${version}`, license, text: texts.join("\n\n") };
}

const apache = join(import.meta.dir, "../../LICENSE");

const standard = (license: string): string =>
  readFileSync(join(import.meta.dir, "texts", `${license}.txt`), "utf8");

/** Returns the crates whose sources a compiled Rust program names, for its panics. */
export function cratesIn(program: string): { name: string; version: string }[] {
  const found = new Map<string, string>();
  for (const [, name, version] of program.matchAll(
    /\/index\.crates\.io-[0-9a-f]+\/([a-z0-9_-]+?)-(\d[0-9a-z.+-]*)\//g,
  ))
    found.set(name!, version!);
  return [...found].sort().map(([name, version]) => ({ name, version }));
}

const line = "=".repeat(80);

/** Renders all notices as one text. A text that several components share appears once. */
export function renderNotices(notices: readonly Notice[]): string {
  const byText = new Map<string, Set<string>>();
  for (const { name, license, text } of notices) {
    const known = text
      .replaceAll("\r\n", "\n")
      .replaceAll(/[ \t]+$/gm, "")
      .trim();
    byText.set(known, (byText.get(known) ?? new Set()).add(`${name} (${license})`));
  }
  const parts = [...byText].map(([text, names]) => `${line}\n${[...names].join("\n")}\n${line}\n\n${text}\n`);
  return `${head}\n${parts.join("\n")}`;
}

const head = `Notices about the software of others in the executables coder and shell. The licence of the rest is in LICENSE.
Written by npm run suite -- licenses.
`;
