// Starts the executable that npm has installed for this machine, with the same arguments, streams and signals.
"use strict";
const { name, version, optionalDependencies } = require("../package.json");

/** Returns the path of the executable. Exits with a sentence if there is none for this machine. */
function executable() {
  const machine = `${process.platform}-${process.arch}`;
  const known = Object.keys(optionalDependencies);
  const candidates = [`${name}-${machine}`, `${name}-${machine}-musl`].filter((other) =>
    known.includes(other),
  );
  const found = candidates.flatMap((other) => pathIn(other) ?? []);
  // npm and pnpm install the package for this C library only, others install both.
  if (found.length > 1) return found[isMusl() ? 1 : 0];
  if (found.length === 1) return found[0];
  const machines = known.map((other) => other.slice(name.length + 1)).join(", ");
  fail(
    candidates.length === 0
      ? `there is no executable for ${machine}, only for ${machines}`
      : `the package ${candidates.join(" or ")} is not installed; install ${name}@${version} again, without --omit=optional or --no-optional, on this machine`,
  );
}

function pathIn(other) {
  try {
    return require.resolve(`${other}/bin/coder`);
  } catch {
    return undefined;
  }
}

/** Returns whether Node itself, and so this system, uses musl. */
function isMusl() {
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime === undefined;
}

function fail(sentence) {
  process.stderr.write(`${name}: ${sentence}\n`);
  process.exit(1);
}

function start(path, args) {
  // Since Node 22.15 this process can become the executable. It is experimental and fails only before it starts.
  if (typeof process.execve === "function")
    try {
      process.execve(path, [path, ...args], process.env);
    } catch {
      // The executable is started as another process.
    }
  const { spawn } = require("node:child_process");
  const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];
  // Handlers first: a signal right after the start would end this process and leave the executable running.
  for (const signal of signals)
    process.on(signal, () => {
      // The terminal sends Ctrl-C to the executable too.
      if (!(signal === "SIGINT" && process.stdin.isTTY)) child.kill(signal);
    });
  const child = spawn(path, args, { stdio: "inherit" });
  child.on("error", ({ message }) => fail(`${path} does not start: ${message}`));
  child.on("exit", (code, signal) => {
    if (signal === null) return process.exit(code);
    for (const other of signals) process.removeAllListeners(other);
    process.kill(process.pid, signal);
    // A signal that Node ignores, such as SIGPIPE, has not ended it.
    setTimeout(() => process.exit(128 + require("node:os").constants.signals[signal]), 100);
  });
}

start(executable(), process.argv.slice(2));
