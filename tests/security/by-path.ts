/** The calls as a program without a jail makes them: by path, wherever the system goes from there. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Call } from "./escape-case.ts";

type Name = string | Buffer;

interface Walk {
  /** Whether a walk follows the links in a folder. */
  readonly followLinks: boolean;
  /** The number of folders above, up to the one that the call names. */
  readonly depth: number;
}

type Operation<Path> = (path: Path, walk: Walk) => string;

/** Makes the call and returns everything that a caller would see. Throws if the system refuses it. */
export const callByPath = (call: Call, path: string, options: Pick<Walk, "followLinks">): string =>
  operations[call](path, { ...options, depth: 0 });

const operations: Readonly<Record<Call, Operation<string>>> = {
  read: readRegular,
  update(path) {
    writeFileSync(path, `new\n${readRegular(path)}`);
    return "";
  },
  list: (path) => readdirSync(path).join("\n"),
  tree: treeOf,
  search: textOf,
  create(path) {
    writeFileSync(path, "new", { flag: "wx" });
    return "";
  },
  overwrite(path) {
    mkdirSync(dirname(path), { recursive: true });
    if (existsSync(path)) readRegular(path);
    writeFileSync(path, "new");
    return "";
  },
  delete(path) {
    const target = realpathSync.native(path);
    if (statSync(target).isDirectory()) rmdirSync(target);
    else unlinkSync(target);
    return "";
  },
  remove: (path, walk) => removeAll(realpathSync.native(path), walk),
};

/** Reads a regular file. A FIFO would block the test. */
function readRegular(path: Name): string {
  if (!statSync(path).isFile()) throw new Error("no file");
  return readFileSync(path, "utf8");
}

/** Maximum depth of a walk, which ends links that lead in circles. */
const deepest = 6;

function treeOf(path: Name, walk: Walk): string {
  return entriesOf(path)
    .map((entry) => `${entry.toString().split("/").at(-1)}\n${descend(entry, walk, treeOf)}`)
    .join("");
}

function textOf(path: Name, walk: Walk): string {
  if (statSync(path).isFile()) return readRegular(path);
  return entriesOf(path)
    .map((entry) =>
      kindOf(entry, walk) === "file" ? orNothing(() => readRegular(entry)) : descend(entry, walk, textOf),
    )
    .join("");
}

function removeAll(path: Name, walk: Walk): string {
  if (kindOf(path, walk) === "folder") {
    for (const entry of entriesOf(path)) {
      if (kindOf(entry, walk) === "file") orNothing(() => unlinkTarget(entry));
      descend(entry, walk, removeAll);
    }
  }
  rmSync(path, { recursive: true, force: true });
  return "";
}

function unlinkTarget(path: Name): string {
  unlinkSync(realpathSync.native(path));
  return "";
}

/** Returns what `operation` shows of a folder inside, or "" if the entry has vanished. */
const descend = (path: Name, walk: Walk, operation: Operation<Name>): string =>
  walk.depth < deepest && kindOf(path, walk) === "folder"
    ? orNothing(() => operation(path, { ...walk, depth: walk.depth + 1 }))
    : "";

const entriesOf = (path: Name): Buffer[] =>
  readdirSync(path, "buffer").map((name) => Buffer.concat([Buffer.from(path), Buffer.from("/"), name]));

function kindOf(path: Name, { followLinks }: Walk): "file" | "folder" | "neither" {
  try {
    const stats = followLinks ? statSync(path) : lstatSync(path);
    return stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "neither";
  } catch {
    return "neither";
  }
}

function orNothing(act: () => string): string {
  try {
    return act();
  } catch {
    return "";
  }
}
