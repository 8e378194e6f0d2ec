/**
 * The packages of npm: one with the executable for each target, and a launcher that depends on all of them
 * optionally, so that npm installs the one for the machine. No package has an install script.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { about } from "../../../src/base/about.ts";
import { root } from "../../build.ts";
import { type PackedFile, packFiles } from "../archive.ts";
import { channels, summary } from "../channels.ts";
import { type ReleaseTarget, targets } from "../targets.ts";

/** A package as `npm publish` takes it. */
export interface NpmPackage {
  readonly name: string;
  /** The file name that `npm pack` would use. */
  readonly file: string;
  readonly archive: Buffer;
}

/** The machines that npm installs a package on. */
export interface NpmMachine {
  readonly os: "darwin" | "linux";
  readonly cpu: "x64" | "arm64" | "arm";
  readonly libc?: "glibc" | "musl";
}

const processors: Readonly<Record<string, NpmMachine["cpu"]>> = {
  x86_64: "x64",
  aarch64: "arm64",
  armv7: "arm",
};

/** Returns the machines of a target, in npm's words. */
export function npmMachine(triple: string): NpmMachine {
  const cpu = processors[triple.split("-", 1)[0] as string];
  if (cpu === undefined) throw new Error(`npm has no word for the processor of ${triple}`);
  if (triple.includes("darwin")) return { os: "darwin", cpu };
  return { os: "linux", cpu, libc: triple.includes("musl") ? "musl" : "glibc" };
}

/** Returns the name of the package for a target, such as `…-linux-x64-musl`. */
export function platformPackageName(triple: string): string {
  const { os, cpu, libc } = npmMachine(triple);
  return [channels.npm, os, cpu, ...(libc === "musl" ? [libc] : [])].join("-");
}

const common = {
  version: about.version,
  license: "Apache-2.0",
  homepage: channels.repository,
  repository: { type: "git", url: `git+${channels.repository}.git` },
} as const;

/** Packs the executable for a target. */
export function packPlatformPackage(
  { triple, needs }: Pick<ReleaseTarget, "triple" | "needs">,
  executable: Buffer,
): NpmPackage {
  const name = platformPackageName(triple);
  const { os, cpu, libc } = npmMachine(triple);
  const manifest = {
    name,
    ...common,
    description: `The executable of ${channels.npm} for ${triple}`,
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
    // Yarn keeps packages in zip archives, where no program can start.
    preferUnplugged: true,
  };
  return pack(manifest, [
    { name: "bin/coder", contents: executable, isExecutable: true },
    text(
      "README.md",
      `# ${name}\n\nThe executable of [${channels.npm}](${channels.repository}) for ${triple}: ${needs}.\n`,
    ),
    file("THIRD-PARTY-NOTICES.txt"),
  ]);
}

/** Packs the launcher, the package that people name. */
export function packLauncher(): NpmPackage {
  const names = targets.map(({ triple }) => platformPackageName(triple));
  const manifest = {
    name: channels.npm,
    ...common,
    description: summary,
    keywords: ["mcp", "mcp-server", "filesystem", "agents", "sandbox"],
    mcpName: channels.mcp,
    bin: { [about.name]: "bin/launch.sh" },
    engines: { node: ">=18" },
    // On Windows no shell would start the launcher, so npm refuses to install it there.
    os: ["darwin", "linux"],
    optionalDependencies: Object.fromEntries(names.map((name) => [name, about.version])),
  };
  return pack(manifest, [
    ...["launch.sh", "launch.cjs"].map((name) => ({
      name: `bin/${name}`,
      contents: readFileSync(join(import.meta.dir, name)),
      isExecutable: name.endsWith(".sh"),
    })),
    text("README.md", readme),
  ]);
}

const readme = `# ${channels.npm}

${summary}

\`\`\`sh
npx -y ${channels.npm} setup claude-code   # or claude-desktop, cursor, vscode, codex, gemini, zed, windsurf
npx -y ${channels.npm} mcp --base-path .   # the server itself, on standard input and output
\`\`\`

The package has no dependencies but the executable for your machine, and no install script. macOS and Linux, on x64 and
ARM. [Documentation](${channels.repository}#readme).
`;

const text = (name: string, contents: string): PackedFile => ({ name, contents: Buffer.from(contents) });

const file = (name: string): PackedFile => ({ name, contents: readFileSync(join(root, name)) });

function pack(manifest: { readonly name: string }, files: readonly PackedFile[]): NpmPackage {
  const all = [text("package.json", `${JSON.stringify(manifest, null, 2)}\n`), ...files, file("LICENSE")];
  return {
    name: manifest.name,
    file: `${manifest.name.replace("@", "").replace("/", "-")}-${about.version}.tgz`,
    archive: packFiles(all.map((entry) => ({ ...entry, name: `package/${entry.name}` }))),
  };
}
