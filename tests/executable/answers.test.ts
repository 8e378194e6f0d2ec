import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json";
import { root } from "../../scripts/build.ts";
import { flagNames } from "../../src/config/arguments/flags.ts";
import { type Artifacts, installArtifacts, runArtifact } from "./artifacts.ts";

let artifacts: Artifacts;

beforeAll(async () => {
  artifacts = await installArtifacts();
});

afterAll(() => artifacts?.[Symbol.dispose]());

describe.each(["executable", "bundle"] as const)("the %s answers by itself", (artifact) => {
  /** Returns the output on stdout of a run that must succeed and print nothing on stderr. */
  async function answer(...flags: string[]): Promise<string> {
    const { code, stdout, stderr } = await runArtifact(artifacts[artifact], flags, { cwd: artifacts.folder });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout;
  }

  test("--version", async () => {
    expect(await answer("--version")).toBe(`coder ${packageJson.version}\n`);
  });

  test("--help", async () => {
    const help = await answer("--help");
    for (const name of flagNames) expect(help).toContain(`--${name} `);
  });

  test("--licenses prints the notices that go with the archives", async () => {
    const notices = readFileSync(join(root, "THIRD-PARTY-NOTICES.txt"), "utf8");
    expect(await answer("--licenses")).toBe(notices);
    for (const part of ["JavaScriptCore", "rregex", "regex-automata", "iii-sdk", "Node.js"])
      expect(notices).toContain(part);
  });

  test("--manifest", async () => {
    const manifest = JSON.parse(await answer("--manifest"));
    expect(Object.keys(manifest)).toEqual([
      "name",
      "version",
      "description",
      "default_config",
      "supported_targets",
    ]);
    expect(manifest).toMatchObject({ name: "coder", version: packageJson.version });
    expect(manifest.supported_targets).toHaveLength(1);
  });

  test("--print-schema --api", async () => {
    const golden = readFileSync(join(root, "tests/conformance/coder-0.2.0.golden.json"), "utf8");
    expect(JSON.parse(await answer("--print-schema", "--api", "0.2.0"))).toEqual(JSON.parse(golden));
  });

  test("it carries no path of the machine that built it", () => {
    const [file = ""] = artifacts[artifact].command.slice(-1);
    expect(readFileSync(file).includes(`${root}/`)).toBe(false);
  });
});

describe("files in the current directory", () => {
  let cwd: string;
  let probe: string;

  beforeAll(() => {
    cwd = join(artifacts.folder, "somebody-elses-project");
    probe = join(cwd, "probe");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "evil.ts"), `require("node:fs").writeFileSync(${JSON.stringify(probe)}, "")`);
    writeFileSync(join(cwd, "bunfig.toml"), 'preload = ["./evil.ts"]');
    writeFileSync(join(cwd, ".env"), "CODER_LOG=nonsense");
  });

  const call = ["call", "coder::list-folder", '{"path":"."}'];

  test("a bunfig.toml runs no code", async () => {
    const bun = { name: "executable", command: [process.execPath] } as const;
    await runArtifact(bun, ["-e", "0"], { cwd });
    expect(existsSync(probe)).toBe(true); // bun itself does run it
    rmSync(probe);
    for (const args of [["--version"], call]) await runArtifact(artifacts.executable, args, { cwd });
    expect(existsSync(probe)).toBe(false);
  });

  test("a .env file sets no variable", async () => {
    const set = await runArtifact(artifacts.executable, call, { cwd, env: { CODER_LOG: "nonsense" } });
    expect(set).toMatchObject({ code: 2, stdout: "" }); // the variable itself would be noticed
    for (const artifact of [artifacts.executable, artifacts.bundle]) {
      const { code, stdout } = await runArtifact(artifact, call, { cwd });
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ path: "." });
    }
  });
});
