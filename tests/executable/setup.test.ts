/** Runs `coder setup` on the configuration files of clients, in an empty home folder. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "jsonc-parser";
import { executable } from "../../scripts/build.ts";
import { runCoder } from "../harness/subject.ts";

let base: string;
let home: string;
let folder: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "coder-setup-")));
  [home, folder] = [join(base, "home"), join(base, "my project")];
  for (const name of [home, folder]) mkdirSync(name);
});

afterEach(() => rmSync(base, { recursive: true }));

const configHome = () => join(home, ".config");

function setup(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return runCoder("executable", ["setup", ...args], {
    cwd: folder,
    env: { HOME: home, XDG_CONFIG_HOME: "", CLAUDE_CONFIG_DIR: "", CODEX_HOME: "", ...env },
  });
}

/** The configuration file of each client, and the keys that lead to its entries. */
const places: readonly [client: string, file: () => string, keys: () => readonly string[]][] = [
  ["claude-code", () => join(home, ".claude.json"), () => ["projects", folder, "mcpServers"]],
  [
    "claude-desktop",
    () =>
      process.platform === "darwin"
        ? join(home, "Library/Application Support/Claude/claude_desktop_config.json")
        : join(configHome(), "Claude/claude_desktop_config.json"),
    () => ["mcpServers"],
  ],
  ["cursor", () => join(folder, ".cursor/mcp.json"), () => ["mcpServers"]],
  ["vscode", () => join(folder, ".vscode/mcp.json"), () => ["servers"]],
  ["codex", () => join(home, ".codex/config.toml"), () => ["mcp_servers"]],
  ["gemini", () => join(folder, ".gemini/settings.json"), () => ["mcpServers"]],
  ["zed", () => join(configHome(), "zed/settings.json"), () => ["context_servers"]],
  ["windsurf", () => join(home, ".codeium/windsurf/mcp_config.json"), () => ["mcpServers"]],
];

type Keyed = Record<string, unknown>;

const parseFile = (file: string): unknown => {
  const text = readFileSync(file, "utf8");
  return file.endsWith(".toml") ? Bun.TOML.parse(text) : JSON.parse(text);
};

test.each(places)("%s: added once, printed, and removed", async (client, file, keys) => {
  const printed = await setup([client, "--read-only", "--print"]);
  expect(printed).toMatchObject({ code: 0, stderr: "" });
  expect(printed.stdout).toStartWith(`In ${file()}:\n\n`);
  expect(existsSync(file())).toBe(false);

  const added = await setup([client, "--read-only"]);
  expect(added).toMatchObject({ code: 0, stderr: "" });
  expect(added.stdout).toStartWith(`Added coder to ${file()}, serving ${folder}.\n`);
  const entry = [...keys(), "coder"].reduce((above, key) => (above as Keyed)[key], parseFile(file()));
  expect(entry).toMatchObject({
    command: executable,
    args: ["mcp", "--base-path", folder, "--read-only"],
  });
  expect(printed.stdout.slice(printed.stdout.indexOf("\n\n") + 2)).toBe(readFileSync(file(), "utf8"));

  const text = readFileSync(file(), "utf8");
  expect((await setup([client, "--read-only"])).stdout).toStartWith(`${file()} already has this entry.`);
  expect(readFileSync(file(), "utf8")).toBe(text);
  expect(readdirSync(dirname(file())).filter((name) => name.includes("backup"))).toEqual([]);

  expect((await setup([client, "--remove"])).stdout).toStartWith(`Removed coder from ${file()}.\n`);
  expect(parseFile(file())).toEqual({});
  expect(await setup([client, "--remove"])).toMatchObject({
    code: 0,
    stdout: `${file()} has no entry coder.\n`,
  });
});

test("several folders become words of the command, and the file is in the first", async () => {
  const other = join(base, "other");
  mkdirSync(other);
  for (const [client, file] of [
    ["cursor", join(folder, ".cursor/mcp.json")],
    ["windsurf", join(home, ".codeium/windsurf/mcp_config.json")],
  ] as const) {
    const added = await setup([client, ".", "../other", "--read-only"]);
    expect(added).toMatchObject({ code: 0, stderr: "" });
    expect(added.stdout).toStartWith(`Added coder to ${file}, serving ${folder} and ${other}.\n`);
    expect(parseFile(file)).toMatchObject({
      mcpServers: { coder: { args: ["mcp", folder, other, "--read-only"] } },
    });
  }
  expect((await setup(["cursor", "../other"])).stdout).toContain(`serving ${other}.\n`);
  expect((await setup(["cursor", ".", "../other", "--remove"])).stdout).toStartWith("Removed coder from");
});

test("the roots of a configuration are served without a folder beside them, which the server would refuse", async () => {
  const config = join(base, "roots.yaml");
  writeFileSync(config, JSON.stringify({ roots: [{ name: "a", path: folder }] }));
  const added = await setup(["cursor", "--config", config]);
  expect(added).toMatchObject({ code: 0, stderr: "" });
  expect(added.stdout).toContain(`serving the roots of ${config}.\n`);
  expect(parseFile(join(folder, ".cursor/mcp.json"))).toMatchObject({
    mcpServers: { coder: { args: ["mcp", "--config", config] } },
  });
  for (const folders of [
    ["--base-path", "."],
    [".", "../home"],
  ]) {
    const { code, stderr } = await setup(["cursor", ...folders, "--config", config]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("roots: is given, and so are folders")]);
  }
});

test("a changed entry names the command before, keeps the mode and the link, and makes a backup", async () => {
  const real = join(base, "dotfiles.json");
  const text =
    '{\n  // mine\n  "context_servers": { "coder": { "command": "old", "args": ["a"], "env": {} } },\n}\n';
  writeFileSync(real, text);
  chmodSync(real, 0o600);
  const link = join(home, ".config/zed/settings.json");
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(real, link);
  const { code, stdout } = await setup(["zed"]);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("Before: old a\n") });
  expect(stdout).toContain(`The file before this change is ${real}.coder-backup.\n`);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  for (const file of [real, `${real}.coder-backup`]) expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(`${real}.coder-backup`, "utf8")).toBe(text);
  const changed = readFileSync(real, "utf8");
  expect(changed).toContain("  // mine\n");
  expect(parse(changed).context_servers.coder).toEqual({
    command: executable,
    args: ["mcp", "--base-path", folder],
    env: {},
  });
});

test("a file that its client cannot read stays as it is, and so does one that is not text", async () => {
  const file = join(home, ".claude.json");
  for (const [bytes, reason] of [
    ["{ // no comments here\n}", "JSON"],
    ['{"projects": 1}', "projects in it is not"],
    [Buffer.from([0x7b, 0xff, 0x7d]), "it is not UTF-8"],
  ] as const) {
    writeFileSync(file, bytes);
    const { code, stdout, stderr } = await setup(["claude-code"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toStartWith(`coder: ${file} was not changed: `);
    expect(stderr).toContain(reason);
    expect(readFileSync(file)).toEqual(Buffer.from(bytes));
    expect(readdirSync(home)).toEqual([".claude.json"]);
  }
});

test("a file with comments that cannot be read stays, and the reason is in words", async () => {
  const file = join(configHome(), "zed/settings.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '{ // settings\n"context_servers": wrong}');
  const { code, stderr } = await setup(["zed"]);
  expect(code).toBe(1);
  expect(stderr).toContain("was not changed: line 2 is not JSON (invalid symbol). Correct it for Zed");
});

test("Claude Code gets the entry for the main work tree of the repository", async () => {
  const git = (...args: string[]) =>
    Bun.spawnSync(["git", "-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: folder });
  git("init", "--quiet");
  git("commit", "--quiet", "--allow-empty", "--message", "a");
  git("worktree", "add", "--quiet", join(base, "linked"));
  const inner = join(folder, "inner");
  mkdirSync(inner);
  for (const served of [inner, join(base, "linked")]) {
    expect((await setup(["claude-code", "--base-path", served])).code).toBe(0);
    const { projects } = parseFile(join(home, ".claude.json")) as Keyed;
    expect(Object.keys(projects as Keyed)).toEqual([folder]);
    expect(projects).toMatchObject({
      [folder]: { mcpServers: { coder: { args: ["mcp", "--base-path", served] } } },
    });
  }
});

test("misuse is a sentence with status 2, and changes nothing", async () => {
  const [engineFile, brokenFile] = [join(base, "engine.yaml"), join(base, "broken.yaml")];
  writeFileSync(engineFile, "workers: []\n");
  writeFileSync(brokenFile, "base_path: [\n");
  const cases: [string[], string][] = [
    [["curser"], "did you mean cursor?"],
    [["cursor", "--base-path", "no/such"], '"no/such" is not a folder to serve'],
    [["cursor", "zed"], '"zed" is not a folder to serve; setup takes one client, and then folders'],
    [["cursor", ".", "zed"], '"zed" is not a folder to serve; setup takes one client, and then folders'],
    [["cursor", "--config", "no.yaml"], "no.yaml: cannot be read (ENOENT)"],
    [["cursor", "--config", "."], "cannot be read (EISDIR)"],
    [["cursor", "--config", engineFile], "is the configuration file of an iii engine"],
    [["cursor", "--config", brokenFile], "is not YAML"],
    [[], "setup needs the name of a client"],
  ];
  for (const [args, sentence] of cases) {
    const { code, stdout, stderr } = await setup(args);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(sentence),
    });
  }
  const { code, stderr } = await setup(["cursor"], { HOME: folder });
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("name one with --base-path"),
  });
  expect(readdirSync(folder)).toEqual([]);
});
