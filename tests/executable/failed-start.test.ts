import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { type Artifacts, installArtifacts } from "./artifacts.ts";

let artifacts: Artifacts;
const taken = createServer();
let port = 0;

beforeAll(async () => {
  artifacts = await installArtifacts();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  ({ port } = taken.address() as AddressInfo);
  mkdirSync(join(artifacts.folder, "base"));
  const config = (name: string, keys: object) =>
    writeFileSync(
      join(artifacts.folder, name),
      JSON.stringify({ base_path: "base", journal: {}, index: "watched", ...keys }),
    );
  config("page-taken.yaml", { review: { port } });
  config("page-free.yaml", { review: { port: 0 } });
  config("wrong-commands.yaml", { commands: { denylist_patterns: ["("] } });
  writeFileSync(
    join(artifacts.folder, "wrong-shell.yaml"),
    "fs: { host_root: base }\nworking_dir: nowhere\n",
  );
  config("no-audit.yaml", { review: { port: 0 }, audit: { file: "absent/audit.jsonl" } });
});

afterAll(() => {
  taken.close();
  artifacts?.[Symbol.dispose]();
});

/** Command lines, each with the beginning of its error message. */
const starts: readonly (readonly [string, string])[] = [
  ["--engine embedded:0 --config page-taken.yaml", "the key review cannot listen"],
  ["--url ws://127.0.0.1:1 --config page-taken.yaml", "the key review cannot listen"],
  ["--engine embedded:TAKEN --config page-free.yaml", "port TAKEN is taken"],
  ["--engine embedded:0 --config no-audit.yaml", "audit"],
  ["mcp --config page-taken.yaml", "the key review cannot listen"],
  ["mcp --http 0 --config page-taken.yaml", "the key review cannot listen"],
  ["mcp --http TAKEN --config page-free.yaml", "--http cannot listen"],
  ["mcp --review --config no-audit.yaml", "audit"],
  ["review --port TAKEN --config page-free.yaml", "--port cannot listen"],
  ["review --config no-audit.yaml", "audit"],
  [
    "call coder::info {} --config wrong-commands.yaml",
    "FOLDER/wrong-commands.yaml: commands.denylist_patterns",
  ],
  [
    "--engine embedded:0 --config wrong-commands.yaml",
    "FOLDER/wrong-commands.yaml: commands.denylist_patterns",
  ],
  ["mcp --config wrong-commands.yaml", "FOLDER/wrong-commands.yaml: commands.denylist_patterns"],
  ["mcp --worker shell --config wrong-shell.yaml", 'FOLDER/wrong-shell.yaml: working_dir "nowhere"'],
];

describe.each(["executable", "bundle"] as const)("the %s ends with 1", (name) => {
  test.each(starts)("%s", async (line, sentence) => {
    const { folder, [name]: artifact } = artifacts;
    const withPort = (text: string) =>
      text.replaceAll("TAKEN", String(port)).replaceAll("FOLDER", realpathSync(folder));
    const { PATH = "" } = process.env;
    const env = {
      PATH,
      XDG_STATE_HOME: join(folder, "state"),
      CODER_TOKEN: "a-token-of-16-characters",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
    };
    const started = Bun.spawn([...artifact.command, ...withPort(line).split(" ")], {
      cwd: folder,
      env,
      // The open pipe stands for a client that stays connected.
      stdio: ["pipe", "ignore", "pipe"],
      timeout: 60_000,
      killSignal: "SIGKILL",
    });
    const log = await started.stderr.text();
    expect(log).toContain(`coder: ${withPort(sentence)}`);
    expect([await started.exited, started.signalCode]).toEqual([1, null]);
  });
});

describe("commands without resources", () => {
  /** Starts the executable by a line of a shell, in which `coder` is the executable. */
  async function start(line: string, TMPDIR: string) {
    const { folder, executable } = artifacts;
    const { PATH = "" } = process.env;
    const words = executable.command.map((word) => `"${word}"`).join(" ");
    const started = Bun.spawn(["sh", "-c", `coder() { ${words} "$@"; }; ${line}`], {
      cwd: folder,
      env: { PATH, TMPDIR, XDG_STATE_HOME: join(folder, "state") },
      stdio: ["pipe", "ignore", "pipe"],
      timeout: 60_000,
      killSignal: "SIGKILL",
    });
    const log = await started.stderr.text();
    return { log, status: await started.exited };
  }

  test.each(["best", "required"])("do not start with %s if descriptors are short", async (mode) => {
    const { folder } = artifacts;
    const temporary = join(folder, `tmp-${mode}`);
    mkdirSync(temporary);
    writeFileSync(join(folder, "commands.yaml"), `base_path: base\ncommands: { os_sandbox: ${mode} }\n`);
    const { log, status } = await start("ulimit -n 16; coder mcp --config commands.yaml", temporary);
    expect(log).toContain(
      "coder: os_sandbox: cannot find out which rules this system supports, because this program has too many files open (EMFILE); raise its limit",
    );
    expect(status).toBe(1);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("do not start without a folder for temporary files, which is named", async () => {
    const { log, status } = await start("coder mcp --base-path base --commands", "/nowhere");
    expect(log).toContain('coder: TMPDIR is "/nowhere", and the temporary files of commands cannot be made');
    expect(status).toBe(1);
  });
});
