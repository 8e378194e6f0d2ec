/** Packages of Debian for trying programs of other machines. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "./packages.ts";

/**
 * Installs missing packages of Debian. Returns the reason if that is impossible, or `undefined` if all are
 * installed.
 */
export function ensureInstalled(names: readonly string[]): string | undefined {
  const missing = names.filter((name) => !isInstalled(name));
  if (missing.length === 0) return undefined;
  const needed = `needs the Debian packages ${missing.join(" ")}`;
  if (Bun.which("apt-get") === null || process.getuid?.() !== 0) return needed;
  try {
    run(["apt-get", "-qq", "update"]);
    run(["apt-get", "-qq", "install", "--yes", "--no-install-recommends", ...missing]);
    return undefined;
  } catch (error) {
    return `${needed}, and ${(error as Error).message}`;
  }
}

function isInstalled(name: string): boolean {
  if (Bun.which("dpkg-query") === null) return false;
  const { stdout } = Bun.spawnSync(["dpkg-query", "--show", "--showformat=${db:Status-Status}", name]);
  return stdout.toString() === "installed";
}

/**
 * Unpacks a package of Debian for another kind of processor into `folder`. Package lists are also kept there,
 * so that the system does not think that it has two kinds.
 */
export function unpackForeign(name: string, architecture: string, folder: string): void {
  const work = join(folder, ".apt");
  mkdirSync(join(work, "lists/partial"), { recursive: true });
  const options = [
    ...[`APT::Architecture=${architecture}`, `APT::Architectures=${architecture}`, "APT::Sandbox::User=root"],
    ...[`Dir::State::lists=${work}/lists`, `Dir::Cache=${work}`, "Dir::State::status=/dev/null"],
  ].flatMap((option) => ["--option", option]);
  run(["apt-get", "-qq", ...options, "update"], work);
  run(["apt-get", "-qq", ...options, "download", name], work);
  for (const file of new Bun.Glob("*.deb").scanSync(work))
    run(["dpkg-deb", "--extract", join(work, file), folder]);
}
