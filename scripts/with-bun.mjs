/**
 * Runs bun with the given arguments, on a machine that has Node and npm but perhaps no bun and no
 * node_modules. Bun comes from npm like every other package: package-lock.json pins it, and nothing is
 * installed system-wide.
 *
 *     node scripts/with-bun.mjs scripts/check.ts --only unit
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bun = join(root, "node_modules/bun/bin/bun.exe");
const stamp = join(root, "node_modules/.installed");
const lock = join(root, ".work/install.lock");

/**
 * The digest of the required node_modules: the locked packages, with the binaries of this kind of machine.
 */
const wanted = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .update(`${process.platform} ${process.arch}`)
  .digest("hex");

const isInstalled = () => readOr(stamp) === wanted;

function readOr(file, otherwise = "") {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return otherwise;
  }
}

const say = (line) => process.stderr.write(`${line}\n`);

/** Runs `npm ci` and stamps the result. npm removes node_modules first, so a broken run leaves no stamp. */
function install() {
  say("Installing the packages of package-lock.json (npm ci)");
  // NODE_ENV=production or a user's own npm settings must not leave out the compiler and its binaries.
  run("npm", ["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"]);
  // If npm blocks install scripts, bun is only a placeholder of a few hundred bytes.
  if (statSync(bun).size < 1_000_000) run(process.execPath, ["node_modules/bun/install.js"]);
  writeFileSync(stamp, wanted);
}

function run(command, args) {
  const { error, status } = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (error || status !== 0)
    throw new Error(`${command} ${args.join(" ")} failed: ${error?.message ?? `exit ${status}`}`);
}

/**
 * Installs unless that is done. If several processes run concurrently, one installs and the others wait for
 * it.
 */
async function ensureInstalled() {
  let waits = 0;
  while (!isInstalled()) {
    if (takeLock()) {
      try {
        if (!isInstalled()) install();
      } finally {
        rmSync(lock, { force: true });
      }
    } else {
      if (waits++ === 5) say(`Waiting for process ${readOr(lock)} to install; ${lock} is its lock`);
      await sleep(200);
    }
  }
}

/**
 * Takes the lock, a file that names its owner. The lock of a terminated process is cleared for the next try.
 */
function takeLock() {
  const mine = `${lock}.${process.pid}`;
  mkdirSync(dirname(lock), { recursive: true });
  writeFileSync(mine, String(process.pid));
  try {
    linkSync(mine, lock); // atomic, and never seen without its content
    return true;
  } catch {
    if (!isAlive(Number(readOr(lock, String(process.pid))))) rmSync(lock, { force: true });
    return false;
  } finally {
    rmSync(mine);
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function runBun(args) {
  // Ctrl-C reaches the whole foreground group by itself. Forwarding it would make it two.
  const passOn = (signal) => (signal === "SIGINT" && process.stdin.isTTY) || child.kill(signal);
  // Before the start: a signal right after it would end this process and leave bun running.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) process.on(signal, passOn);
  const child = spawn(bun, args, { cwd: root, stdio: "inherit" });
  child.on("error", stop);
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}

function stop(error) {
  say(error.message);
  process.exitCode = 1;
}

ensureInstalled()
  .then(() => runBun(process.argv.slice(2)))
  .catch(stop);
