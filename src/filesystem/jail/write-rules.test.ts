import { expect, test } from "bun:test";
import { autorunGlobs } from "./autorun.ts";
import { writeDenialOf, writeRules } from "./write-rules.ts";

const gitUser = { home: undefined, configFiles: [] };
const rulesWith = (keys: { globs?: readonly string[] | null; except?: readonly string[] }, folds = false) =>
  writeRules(writeDenialOf({ globs: null, except: [], byDefault: autorunGlobs, gitUser, ...keys }), {
    base: "/nowhere",
    folds,
  });

const isRefused = (rules: ReturnType<typeof rulesWith>, path: string) =>
  rules.refusalOf(
    { path, names: path.split("/"), newFolders: [], stats: undefined, folding: "exact" },
    "entry",
  ) !== undefined;

test("what is allowed is open with everything below it, and nothing else", () => {
  const rules = rulesWith({ except: [".vscode/tasks.json", "a/.cursor"] });
  expect([".vscode/tasks.json", "a/.cursor/x/y", "a/.cursor"].map((path) => isRefused(rules, path))).toEqual([
    false,
    false,
    false,
  ]);
  expect(
    [".vscode/settings.json", ".cursor/x", "b/a/.cursor", "a"].map((path) => isRefused(rules, path)),
  ).toEqual([true, true, true, false]);
  expect(rules.deniesIn({ path: "a", folding: "exact" }, ".cursor")).toBe(false);
  expect(rules.deniesIn({ path: "b", folding: "exact" }, ".cursor")).toBe(true);
});

test("an exception opens the spelling that it has", () => {
  const rules = rulesWith({ except: [".envrc"] }, true);
  expect([".envrc", ".ENVRC"].map((path) => isRefused(rules, path))).toEqual([false, true]);
});

test("a list of the configuration replaces that of the profile, with what git reads", () => {
  const rules = rulesWith({ globs: ["kept"] });
  expect(["kept", ".git/config", ".envrc"].map((path) => isRefused(rules, path))).toEqual([
    true,
    false,
    false,
  ]);
});

test("the program is named that would act on a file", () => {
  const place = { newFolders: [], stats: undefined, folding: "exact" } as const;
  const program = (path: string) =>
    rulesWith({}).refusalOf({ ...place, path, names: path.split("/") }, "entry")?.program;
  expect([program("a/.git/x"), program(".zed/tasks.json"), program("plain")]).toEqual([
    "git",
    "Zed",
    undefined,
  ]);
});

test("a link may not get the name of a folder in which something is protected", () => {
  const rules = rulesWith({ except: ["b/.vscode/**"] });
  const mayDeny = (path: string) => rules.mayDenyBelow(path.split("/"), "exact");
  expect([".vscode", "a/.claude", "gradle", ".claude/plans", "src"].map(mayDeny)).toEqual([
    ...[true, true, true],
    ...[false, false],
  ]);
});
