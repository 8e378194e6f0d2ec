import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { workers } from "../../../src/serve/workers.ts";
import type { PathArgument } from "../../harness/path-arguments.ts";
import { buildTree, expandBase, snapshotTree } from "../../harness/tree.ts";
import { temporaryFolder } from "../../harness/worker-fixture.ts";
import { backends, isWhole, triedThrough } from "../backends.ts";
import { commonTree, type EscapeCase, isForbidden } from "../escape-case.ts";
import { escapeCases } from "../escape-cases.ts";
import { changedKeys, leaksIn, stampsOutside } from "../probe.ts";
import { openShellFunctions, type ShellFunctions, shellPathArguments } from "./shell.ts";

test("each function of files is called on each escape case", () => {
  const ids = workers.shell.functions.map(({ id }) => id).filter((id) => id.startsWith("shell::fs::"));
  expect([...new Set(shellPathArguments.map(({ id }) => id))].sort()).toEqual(ids.sort());
});

/**
 * Returns the entries to deny. The shell worker denies paths, so a link with a forbidden name is not among
 * them.
 */
const deniedKeys = ({ tree }: EscapeCase): string[] =>
  Object.entries({ ...commonTree, ...tree })
    .filter(
      ([key, entry]) =>
        !key.startsWith("../") &&
        isForbidden(key) &&
        !(entry !== null && typeof entry === "object" && "link" in entry),
    )
    .map(([key]) => key.replace(/\/$/, ""))
    .filter((key) => key.isWellFormed());

/** Returns whether a file has a second name. The jail promises nothing for such a name of a denied file. */
const hasSecondName = ({ tree }: EscapeCase): boolean =>
  Object.values(tree).some((entry) => entry !== null && typeof entry === "object" && "hardlink" in entry);

/** The served folder and the `fs_scope` of each call, as functions of the folder around both. */
interface Layout {
  readonly name: string;
  served(root: string): string;
  scope?(root: string): object;
}

const theBase: Layout = { name: "", served: (root) => join(root, "base") };

/** Returns the scope of a session of iii's harness, with grants of folders that other workers serve. */
const session = (root: string, boundary: string) => ({
  root: join(root, "base"),
  boundary,
  grants: ["/", join(root, "outside"), "../outside"],
  session_id: "s",
});

/** The layouts with scopes. Each is tried with other cases, or with all by `npm run suite -- roots`. */
const scoped: readonly Layout[] = [
  { ...theBase, name: "the session of the base", scope: (root) => session(root, "workspace") },
  { ...theBase, name: "everything", scope: (root) => session(root, "configured_roots") },
  {
    name: "a folder in the served tree",
    served: (root) => root,
    scope: (root) => ({ ...session(root, "workspace"), grants: [] }),
  },
];

const cells = [
  ...backends.map((backend) => [backend, theBase] as const),
  ...scoped.map((layout) => [backends[0]!, layout] as const),
].map(([backend, layout]) => [`${backend} ${layout.name}`.trim(), backend, layout] as const);

describe.each(cells)("%s", (_, backend, layout) => {
  /**
   * The opened functions by denylist. Opening takes longer than all calls on an escape case, so cases with
   * the same denylist share them.
   */
  const shells = new Map<string, ShellFunctions>();
  const logged: string[] = [];
  let root: string;
  beforeAll(() => {
    root = temporaryFolder();
  });
  afterAll(async () => {
    for (const shell of shells.values()) await shell.close();
    rmSync(root, { recursive: true, force: true });
  });

  const all = escapeCases.filter((one) => !hasSecondName(one));
  const tried = all.filter((_, at) => isWhole || layout === theBase || at % 9 === scoped.indexOf(layout));
  test.each(tried.map((one, at) => [one.name, one, at] as const))("%s", async (_, escapeCase, at) => {
    const keys = deniedKeys(escapeCase);
    const build = () => buildTree(root, { ...commonTree, ...escapeCase.tree });
    build();
    const shell = await shellFor(keys);
    const faults: string[] = [];
    for (const argument of triedThrough(backend, shellPathArguments, at)) {
      const { found, isTouched } = await tryOut(shell, argument, escapeCase, keys);
      faults.push(...found.map((fault) => `${argument.name}: ${fault}`));
      if (isTouched) build();
    }
    expect([...faults, ...logged.splice(0)]).toEqual([]);
  });

  async function shellFor(keys: readonly string[]): Promise<ShellFunctions> {
    const list = keys.join("\n");
    const base = join(root, "base");
    const denied = keys.map((key) => join(base, key));
    const shell =
      shells.get(list) ??
      (await openShellFunctions(
        layout.served(root),
        { denied, backend, scope: layout.scope?.(root) },
        (line) => logged.push(line),
      ));
    shells.set(list, shell);
    return shell;
  }

  /**
   * Makes a call on an escape case. Returns what it must not show or change, and whether it changed anything.
   */
  async function tryOut(
    shell: ShellFunctions,
    argument: PathArgument,
    escapeCase: EscapeCase,
    denied: readonly string[],
  ): Promise<{ found: string[]; isTouched: boolean }> {
    const base = join(root, "base");
    const expanded = expandBase(escapeCase.path, base);
    const path = expanded.startsWith("/") ? expanded : `${base}/${expanded}`;
    const [snapshot, stamps] = [snapshotTree(root), stampsOutside(root)];
    const shown = await shell.call(argument, path);
    const changed = changedKeys(snapshot, snapshotTree(root));
    const isSameOutside = Bun.deepEquals(stampsOutside(root), stamps);
    const isDenied = (key: string) => denied.some((one) => key === one || key.startsWith(`${one}/`));
    const found = [
      ...(/^\{"answer":|"error":"\{\\"code\\":\\"S21\d/.test(shown) ? [] : [`has no form: ${shown}`]),
      ...leaksIn(shown, path, root).map((leak) => `shows ${leak}: ${shown}`),
      ...changed.filter((key) => key.startsWith("../") || isDenied(key)).map((key) => `changed ${key}`),
      ...(argument.effect === "reads" ? changed.map((key) => `changed ${key}`) : []),
      ...(isSameOutside ? [] : ["changed something outside"]),
    ];
    return { found, isTouched: changed.length > 0 || !isSameOutside };
  }
});
