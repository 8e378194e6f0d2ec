import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import { autorunGlobs } from "../jail/autorun.ts";
import { openJail } from "../jail/jail.ts";
import { temporaryName } from "../jail/temporary.ts";
import { writeDenialOf } from "../jail/write-rules.ts";
import { hasDeniedStep } from "./denied-steps.ts";
import type { IntendedStep, RecordedEntry } from "./record.ts";

const entry = (kind: RecordedEntry["kind"]): RecordedEntry => ({
  kind,
  dev: "1",
  ino: "1",
  size: "1",
  mtime: "1",
  ctime: "1",
});
const temporary = temporaryName();
const place = (path: string, kind: RecordedEntry["kind"] = "dir"): IntendedStep => ({
  kind: "place",
  path,
  temporary,
  staged: entry(kind),
});
const setAside = (path: string): IntendedStep => ({
  kind: "set-aside",
  path,
  temporary,
  entry: entry("dir"),
});

/** Steps of a killed process, and whether a worker refuses to finish them. */
const rows: readonly (readonly [what: string, steps: IntendedStep[], isDenied: boolean])[] = [
  ["the removal of a folder with such a file", [setAside("app")], false],
  ["the removal of the file", [setAside("app/.npmrc")], true],
  ["the removal of a folder that the rule names", [setAside("app/.vscode")], true],
  ["a folder that is made again", [place("app"), place("app/.npmrc", "file"), place("app/.vscode")], false],
  ["the file in a folder that is there", [place("app/.npmrc", "file")], true],
  ["a folder that is there, and the file before it", [place("app/.npmrc", "file"), place("app")], true],
  ["a denied file in a folder that is made again", [place("app"), place("denied/.env", "file")], true],
  ["a folder with a denied file", [place("denied")], true],
  ["a folder that the rule names", [place("app/.vscode"), place("app/.vscode/tasks.json", "file")], true],
  ["a move", [{ kind: "rename", from: "app", to: "other", entry: entry("dir") }], true],
];

test.each(rows)("%s", async (_, steps, isDenied) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  for (const path of ["app/.vscode", "denied"]) mkdirSync(join(base, path), { recursive: true });
  for (const path of ["app/.npmrc", "app/.vscode/tasks.json", "denied/.env"])
    writeFileSync(join(base, path), "");
  const gitUser = { home: undefined, configFiles: [] };
  const denyWriting = writeDenialOf({ globs: null, except: [], byDefault: autorunGlobs, gitUser });
  const jail = openJail({ basePath: base, deny: compileGlobSet(["**/.env"]), denyWriting });
  expect(await hasDeniedStep(jail, steps)).toBe(isDenied);
  jail.close();
  rmSync(base, { recursive: true });
});
