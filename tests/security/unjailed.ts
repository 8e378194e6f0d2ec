/**
 * What the functions would do without a jail: the path is put behind the base, and the system goes where it leads. Shows
 * that an escape case is dangerous.
 */
import {
  existsSync,
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

/** Does it, and returns what a caller would be shown; an error shows nothing. `base` lies in a folder of the test's. */
export function callUnjailed(call: Call, base: string, path: string): string {
  const place = path.startsWith("/") ? path : `${base}/${path}`;
  try {
    requireOurs(place, dirname(base));
    return acts[call](place);
  } catch {
    return "";
  }
}

/** However careless: a link to a device, or to the root of the system, must not cost this machine anything. */
function requireOurs(place: string, root: string): void {
  const real = existsSync(place) ? realpathSync.native(place) : realpathSync.native(root);
  if (real !== root && !real.startsWith(`${root}/`)) throw new Error("not of this test");
}

const acts: Readonly<Record<Call, (place: string) => string>> = {
  read: readRegular,
  update(place) {
    writeFileSync(place, `new\n${readRegular(place)}`);
    return "";
  },
  list: (place) => readdirSync(place).join("\n"),
  tree: (place) => treeOf(place, 0),
  search: (place) => textOf(place, 0),
  create(place) {
    writeFileSync(place, "new", { flag: "wx" });
    return "";
  },
  overwrite(place) {
    mkdirSync(dirname(place), { recursive: true });
    if (existsSync(place)) readRegular(place);
    writeFileSync(place, "new");
    return "";
  },
  delete(place) {
    const target = realpathSync.native(place);
    if (statSync(target).isDirectory()) rmdirSync(target);
    else unlinkSync(target);
    return "";
  },
  remove: (place) => removeAll(realpathSync.native(place), 0),
};

/** Not even a careless program opens a FIFO in a test. */
function readRegular(place: Name): string {
  if (!statSync(place).isFile()) throw new Error("no file");
  return readFileSync(place, "utf8");
}

/** Links that lead in circles end here. */
const deepest = 6;

function treeOf(place: Name, depth: number): string {
  return entriesOf(place)
    .map((entry) => `${entry.toString().split("/").at(-1)}\n${descend(entry, depth, treeOf)}`)
    .join("");
}

function textOf(place: Name, depth: number): string {
  if (statSync(place).isFile()) return readRegular(place);
  return entriesOf(place)
    .map((entry) => (kindOf(entry) === "file" ? readRegular(entry) : descend(entry, depth, textOf)))
    .join("");
}

function removeAll(place: Name, depth: number): string {
  if (kindOf(place) === "folder") {
    for (const entry of entriesOf(place)) {
      if (kindOf(entry) === "file") unlinkSync(realpathSync.native(entry));
      descend(entry, depth, removeAll);
    }
  }
  rmSync(place, { recursive: true, force: true });
  return "";
}

const descend = (place: Name, depth: number, act: (place: Name, depth: number) => string): string =>
  depth < deepest && kindOf(place) === "folder" ? act(place, depth + 1) : "";

const entriesOf = (place: Name): Buffer[] =>
  readdirSync(place, "buffer").map((name) => Buffer.concat([Buffer.from(place), Buffer.from("/"), name]));

function kindOf(place: Name): "file" | "folder" | "neither" {
  try {
    const stats = statSync(place);
    return stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "neither";
  } catch {
    return "neither";
  }
}
