/** The command lines that list what servers over other folders have recorded. */
import { nameRoots } from "../coder/config/roots-config.ts";

interface Root {
  readonly name: string;
  readonly hostPath: string;
}

/** Maximum journals that are named. */
const maxNamed = 3;

/**
 * Returns a line for each journal of other folders that overlap with those of this command line, whose
 * `--config` is `configFile`, if that names no roots itself.
 */
export function renderOtherJournals(
  journals: readonly (readonly Root[])[],
  configFile: string | undefined,
): string {
  const flags = configFile === undefined ? "" : ` --config ${shellWord(configFile)}`;
  const lines = journals
    .slice(0, maxNamed)
    .map(
      (roots) =>
        `coder: a server over ${roots.map(({ hostPath }) => hostPath).join(" and ")} has recorded changes; list them with ${commandFor(roots, flags)}\n`,
    );
  const more = journals.length - lines.length;
  return lines.join("") + (more > 0 ? `coder: and ${more} more servers over folders that overlap\n` : "");
}

function commandFor(roots: readonly Root[], flags: string): string {
  const paths = roots.map(({ hostPath }) => hostPath);
  if (roots[0]?.name === ".") return `coder checkpoints --base-path ${shellWord(paths[0]!)}${flags}`;
  const named = nameRoots(paths);
  if (roots.every(({ name }, index) => named[index]?.name === name))
    return `coder checkpoints ${paths.map(shellWord).join(" ")}${flags}`;
  const names = roots.map(({ name }) => JSON.stringify(name)).join(", ");
  return `coder checkpoints --config FILE, whose roots have the names ${names}, in this order`;
}

/** Returns a word of a POSIX shell. */
const shellWord = (word: string): string =>
  /^[\w./+:@,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
