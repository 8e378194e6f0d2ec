import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../build.ts";

/** A file in the registry of npm, with its expected hash. */
export interface Package {
  readonly name: string;
  readonly version: string;
  /** The hash in the form of package-lock.json: `sha512-` and base64. */
  readonly integrity: string;
}

const cache = join(root, ".work/packages");

/**
 * Returns the package that package-lock.json pins under `name`, even if it is not installed on this kind of
 * machine.
 */
export function lockedPackage(name: string): Package {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const { version, integrity } = lock.packages[`node_modules/${name}`] ?? {};
  if (integrity === undefined) throw new Error(`package-lock.json does not pin ${name}`);
  return { name, version, integrity };
}

/** Downloads a package and unpacks one of its files into `folder`. Returns its path. */
export function fetchFile(wanted: Package, path: string, folder: string): string {
  const archive = fetchPackage(wanted);
  mkdirSync(folder, { recursive: true });
  run(["tar", "-xzf", archive, "-C", folder, `package/${path}`]);
  return join(folder, "package", path);
}

/** Downloads the archive of a package, unless it is cached, and verifies its hash in both cases. */
export function fetchPackage({ name, version, integrity }: Package): string {
  const archive = join(cache, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
  if (!existsSync(archive)) {
    mkdirSync(cache, { recursive: true });
    run(["npm", "pack", `${name}@${version}`, "--ignore-scripts", "--silent", "--pack-destination", cache]);
  }
  const found = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (found !== integrity) throw new Error(`${archive} is ${found}, and ${integrity} was to come; remove it`);
  return archive;
}

/** Runs a command to its end. Throws its output if it fails. */
export function run(command: string[], cwd: string = root): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd, stdin: "ignore" });
  if (exitCode !== 0) throw new Error(`${command.join(" ")} failed: ${stderr}${stdout}`);
  return stdout.toString();
}
