import { afterAll, describe, expect, spyOn, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import { autorunGlobs } from "./autorun.ts";
import type { OnDirent } from "./dirents.ts";
import type { Folder } from "./folder.ts";
import { openGuardedFinder } from "./guarded-paths.ts";
import { openRootsAtOnce } from "./jail.test-kit.ts";
import { openJail } from "./jail.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(root, { recursive: true }));

function write(...paths: string[]): void {
  for (const path of paths) writeText(path, "");
}

function writeText(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const inRoot = (paths: readonly string[]) => paths.map((path) => path.slice(root.length + 1)).sort();

/** Returns the turns of the event loop that work takes if each check of the clock takes a slice. */
async function turnsOf(work: () => Promise<void>): Promise<number> {
  let time = 0;
  let turns = 0;
  const clock = spyOn(performance, "now").mockImplementation(() => (time += 2));
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  clock.mockRestore();
  return turns;
}

/** Returns a folder that reports each entry that it, or a folder in it, lists. */
function countingFolder(folder: Folder, onEntry: () => void): Folder {
  return new Proxy(folder, {
    get(target, key) {
      if (key === "child")
        return (...names: Parameters<Folder["child"]>) => countingFolder(target.child(...names), onEntry);
      if (key === "list")
        return (onDirent: OnDirent) =>
          target.list((...dirent) => {
            onEntry();
            onDirent(...dirent);
          });
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

describe("what is denied", () => {
  const deny = compileGlobSet(["**/.env", "**/*.pem", "**/secrets/**", "vault"]);

  test("is found at any depth, as files, without following links", async () => {
    write("one/.env", "one/a/b/key.pem", "one/secrets/x", "one/secrets/deep/y", "one/vault/z/q", "one/a/ok");
    symlinkSync("../vault", join(root, "one/a/link"));
    symlinkSync("none", join(root, "one/a/b/.env"));
    const finder = await openGuardedFinder(openJail({ basePath: join(root, "one"), deny }));
    const found = async () => {
      await finder.refresh();
      return inRoot(finder.found.denied);
    };
    const all = [
      "one/.env",
      "one/a/b/.env",
      "one/a/b/key.pem",
      "one/secrets/deep/y",
      "one/secrets/x",
      "one/vault/z/q",
    ];
    expect(await found()).toEqual(all);
    write("one/a/b/c/new.pem");
    rmSync(join(root, "one/.env"));
    expect(await found()).toEqual([...all.slice(1, 3).toSpliced(1, 0, "one/a/b/c/new.pem"), ...all.slice(3)]);
    rmSync(join(root, "one/a"), { recursive: true });
    expect(await found()).toEqual(all.slice(3));
  });

  test("is a folder as a whole where it holds many files", async () => {
    write(...Array.from({ length: 300 }, (_, index) => `many/vault/${index}`));
    const { found } = await openGuardedFinder(openJail({ basePath: join(root, "many"), deny }));
    expect(inRoot(found.denied)).toEqual(["many/vault"]);
  });

  test("is found in slices, however many there are in one folder", async () => {
    write(...Array.from({ length: 300 }, (_, index) => `slices/${index}.pem`));
    const jail = openJail({ basePath: join(root, "slices"), deny });
    // A folder that has not changed lately is not listed again.
    utimesSync(join(root, "slices"), 1, 1);
    const finder = await openGuardedFinder(jail);
    expect(await turnsOf(() => finder.refresh())).toBeGreaterThanOrEqual(300);
    expect(finder.found.denied.length).toBe(300);
  });

  test("is a folder of very many entries after the first of them", async () => {
    write(...Array.from({ length: 1000 }, (_, index) => `lists/vault/${"x".repeat(200)}${index}`));
    const jail = openJail({ basePath: join(root, "lists"), deny });
    let listed = 0;
    const count = () => {
      listed++;
    };
    const counted = {
      ...jail,
      reopenFolder: (path: string) => countingFolder(jail.reopenFolder(path), count),
    };
    expect(inRoot((await openGuardedFinder(counted)).found.denied)).toEqual(["lists/vault"]);
    expect(listed).toBeLessThan(1000);
  });

  test("is found in slices in a denied folder too, below which there is another root", async () => {
    write("beside/vault/open/x", ...Array.from({ length: 300 }, (_, index) => `beside/vault/${index}`));
    write(...Array.from({ length: 100 }, (_, index) => `beside/vault/deep/${index}/x`));
    const at = (name: string, path: string) => ({ name, path: join(root, path), isReadOnly: false, deny });
    const jail = openRootsAtOnce({
      deny: compileGlobSet([]),
      roots: [at("all", "beside"), at("open", "beside/vault/open")],
    });
    const finder = await openGuardedFinder(jail);
    expect(await turnsOf(() => finder.refresh())).toBeGreaterThanOrEqual(400);
    expect(finder.found.denied.length).toBe(400);
  });

  test("is found in every root, by the globs of each", async () => {
    write("left/.env", "left/a.txt", "right/a.txt", "right/b.txt");
    const jail = openRootsAtOnce({
      deny,
      roots: [
        { name: "l", path: join(root, "left"), isReadOnly: false, deny: compileGlobSet([]) },
        { name: "r", path: join(root, "right"), isReadOnly: true, deny: compileGlobSet(["a.txt"]) },
      ],
    });
    expect(inRoot((await openGuardedFinder(jail)).found.denied)).toEqual(["left/.env", "right/a.txt"]);
  });

  test("is not a root in another one, which has its own rules", async () => {
    write("nest/a.txt", "nest/packages/core/.env", "nest/packages/core/a.txt", "nest/packages/core/b.key");
    write(
      "nest/vault/x",
      "nest/vault/open/y",
      ...Array.from({ length: 300 }, (_, n) => `nest/vault/deep/${n}`),
    );
    const at = (name: string, path: string, ...globs: string[]) => ({
      name,
      path: join(root, path),
      isReadOnly: false,
      deny: compileGlobSet(globs),
    });
    const jail = openRootsAtOnce({
      deny: compileGlobSet(["**/.env"]),
      roots: [
        at("app", "nest", "**/*.txt", "vault"),
        at("core", "nest/packages/core", "*.key"),
        at("open", "nest/vault/open"),
      ],
    });
    expect(inRoot((await openGuardedFinder(jail)).found.denied)).toEqual([
      "nest/a.txt",
      "nest/packages/core/.env",
      "nest/packages/core/b.key",
      "nest/vault/deep",
      "nest/vault/x",
    ]);
  });

  test("is a root whose name is denied", async () => {
    write("whole/x", "other/z");
    const roots = ["whole", "other"].map((name) => ({ name, path: join(root, name), isReadOnly: false }));
    const jail = openRootsAtOnce({ deny: compileGlobSet(["whole"]), roots });
    expect(inRoot((await openGuardedFinder(jail)).found.denied)).toEqual(["whole"]);
  });

  test("is found by a search that begins after it was made, also while another one runs", async () => {
    const finder = await openGuardedFinder(openJail({ basePath: join(root, "one"), deny }));
    const first = finder.refresh();
    write("one/late/.env");
    await Promise.all([finder.refresh(), finder.refresh()]);
    expect(inRoot(finder.found.denied)).toContain("one/late/.env");
    await first;
  });
});

describe("what may not be changed", () => {
  const denyWriting = {
    globs: compileGlobSet(autorunGlobs),
    except: compileGlobSet(["open/**"]),
    gitUser: { home: undefined, configFiles: [] },
  };
  const keptIn = async (folder: string, protectedFiles: readonly string[] = []) => {
    const jail = openJail({
      basePath: join(root, folder),
      deny: compileGlobSet([]),
      denyWriting,
      protectedFiles,
    });
    return inRoot((await openGuardedFinder(jail)).found.kept).map((path) => path.slice(folder.length + 1));
  };

  test("is a file or folder of the table, not what package managers made, nor what is open", async () => {
    write(
      ...["plain/.npmrc", "plain/.vscode/tasks.json", "plain/.vscode/other.json", "plain/.husky/_/husky.sh"],
      ...["plain/node_modules/x/.npmrc", "plain/sub/target/.cargo/config.toml", "plain/open/.envrc"],
    );
    symlinkSync("sub", join(root, "plain/.idea"));
    expect(await keptIn("plain")).toEqual([".husky", ".npmrc", ".vscode/tasks.json"]);
  });

  test("is in a repository what makes git run programs, in every kind of one", async () => {
    write(
      ...[
        "HEAD",
        "config",
        "index",
        "hooks/pre-commit",
        "objects/config",
        "refs/heads/hooks",
        "logs/HEAD",
      ].map((name) => `repo/.git/${name}`),
      ...["HEAD", "config", "objects/x", "refs/x"].map((name) => `repo/.git/modules/sub/${name}`),
      ...["HEAD", "commondir", "gitdir", "index"].map((name) => `repo/.git/worktrees/other/${name}`),
      ...["HEAD", "config", "objects/x", "refs/x", "hooks/x"].map((name) => `repo/bare/${name}`),
    );
    writeText("repo/sub/.git", "gitdir: ../.git/modules/sub\n");
    expect(await keptIn("repo")).toEqual([
      ".git/config",
      ".git/hooks",
      ".git/modules/sub/config",
      ".git/worktrees/other/commondir",
      ".git/worktrees/other/gitdir",
      "bare/config",
      "bare/hooks",
      "sub/.git",
    ]);
  });

  test("is also what the configuration of git names, and the configuration of the worker", async () => {
    const config = '[core]\n\thooksPath = tools/hooks\n[filter "x"]\n\tclean = ./tools/clean.sh --all\n';
    writeText("named/.git/config", config);
    write("named/tools/hooks/pre-commit", "named/tools/clean.sh", "named/tools/other.sh", "named/coder.yaml");
    const files = [join(root, "named/coder.yaml"), join(root, "named/absent.yaml")];
    expect(await keptIn("named", files)).toEqual([
      ".git/config",
      "coder.yaml",
      "tools/clean.sh",
      "tools/hooks",
    ]);
  });

  test("is a whole folder in which globs match everything, unless an exception may lie in it", async () => {
    write(
      "user/locked/a",
      "user/locked/in/b",
      "user/some/a.txt",
      "user/some/b",
      "user/part/open/x",
      "user/x/y",
    );
    const keptBy = async (globs: readonly string[], ...except: string[]) => {
      const denyWriting = { globs: compileGlobSet(globs), except: compileGlobSet(except) };
      const jail = openJail({ basePath: join(root, "user"), deny: compileGlobSet([]), denyWriting });
      return inRoot((await openGuardedFinder(jail)).found.kept).map((path) => path.slice("user/".length));
    };
    expect(await keptBy(["locked/**", "some/*.txt", "part/**/*"], "other/**")).toEqual([
      "locked",
      "part",
      "some/a.txt",
    ]);
    expect(await keptBy(["locked/**"], "locked/in")).toEqual(["locked/a"]);
    expect(await keptBy(["locked/**"], "**/b")).toEqual(["locked/a", "locked/in"]);
  });
});
