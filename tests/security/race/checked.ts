/**
 * The design that most programs have: make the path real, compare it with the base, and then use the path. It is right
 * on a quiet tree, and loses every race; which shows that the races are real ones.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Call } from "../escape-case.ts";

/** Does it, and returns what a caller would be shown; an error shows nothing. */
export function callChecked(call: Call, base: string, path: string): string {
  const place = `${base}/${path}`;
  try {
    requireInside(base, place);
    return acts[call](place);
  } catch {
    return "";
  }
}

function requireInside(base: string, place: string): void {
  let existing = place;
  while (!existsSync(existing)) existing = dirname(existing);
  const real = realpathSync.native(existing);
  if (real !== base && !real.startsWith(`${base}/`)) throw new Error("outside");
}

const acts: Readonly<Record<Call, (place: string) => string>> = {
  read: readRegular,
  update(place) {
    writeFileSync(place, `new\n${readRegular(place)}`);
    return "";
  },
  list: (place) => readdirSync(place).join("\n"),
  tree: treeOf,
  search: textOf,
  create(place) {
    writeFileSync(place, "new", { flag: "wx" });
    return "";
  },
  overwrite(place) {
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, "new");
    return "";
  },
  delete(place) {
    unlinkSync(place);
    return "";
  },
  remove: removeAll,
};

function readRegular(place: string): string {
  if (!statSync(place).isFile()) throw new Error("no file");
  return readFileSync(place, "utf8");
}

function treeOf(place: string): string {
  return readdirSync(place, { withFileTypes: true })
    .map(
      (entry) =>
        `${entry.name}\n${entry.isDirectory() ? orNothing(() => treeOf(`${place}/${entry.name}`)) : ""}`,
    )
    .join("");
}

function textOf(place: string): string {
  return readdirSync(place, { withFileTypes: true })
    .map((entry) => {
      if (entry.isDirectory()) return orNothing(() => textOf(`${place}/${entry.name}`));
      return entry.isFile() ? orNothing(() => readRegular(`${place}/${entry.name}`)) : "";
    })
    .join("");
}

function removeAll(place: string): string {
  for (const entry of readdirSync(place, { withFileTypes: true })) {
    const inner = `${place}/${entry.name}`;
    orNothing(() => {
      if (entry.isDirectory()) return removeAll(inner);
      unlinkSync(inner);
      return "";
    });
  }
  rmdirSync(place);
  return "";
}

function orNothing(act: () => string): string {
  try {
    return act();
  } catch {
    return "";
  }
}
