/**
 * `npm run suite -- shells`: the real shells read the completions, fish offers words from them, and the
 * linters of Debian read the manual page and the units of systemd. As root on Debian, it installs what is
 * missing. The last line says `N passed, N failed, N skipped`.
 */
import { deepEqual, equal } from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { executable, root } from "../../scripts/build.ts";
import { ensureInstalled } from "../../scripts/release/debian.ts";
import { run } from "../../scripts/release/packages.ts";
import { check, skip, totals } from "../../scripts/release/trial/checks.ts";

const reason = ensureInstalled(["zsh", "fish", "mandoc", "systemd"]);
const base = mkdtempSync(join(tmpdir(), "coder-shells-"));
try {
  if (reason === undefined) await tryAll();
  else skip("shells and linters", reason);
} finally {
  rmSync(base, { recursive: true });
}
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed === 0 ? 0 : 1;

async function tryAll(): Promise<void> {
  for (const shell of ["bash", "zsh", "fish"]) {
    const script = join(base, `coder.${shell}`);
    writeFileSync(script, run([executable, "completions", shell]));
    await check(`${shell} reads its script`, () => run([shell, "-n", script]));
  }
  await check("zsh takes it into its completion system", () => {
    const script = `autoload -Uz compinit; compinit -u -d ${base}/dump; source ${base}/coder.zsh; print $_comps[coder]`;
    equal(run(["zsh", "-f", "-c", script]), "_coder\n");
  });
  await check("fish offers commands, clients, functions, flags and values", () => {
    const offered = (line: string) =>
      run(["fish", "--no-config", "-c", `source ${base}/coder.fish; complete -C '${line}'`])
        .split("\n")
        .map((row) => row.split("\t", 1)[0])
        .filter(Boolean);
    deepEqual(offered("coder se"), ["setup"]);
    deepEqual(offered("coder setup vs"), ["vscode"]);
    deepEqual(offered("coder call read-"), ["read-file"]);
    deepEqual(offered("coder mcp --struct"), ["--structured"]);
    deepEqual(offered("coder mcp --log-level in"), ["info"]);
  });
  await check("mandoc finds nothing to warn of in the manual", () => {
    for (const worker of ["coder", "shell"]) {
      const page = join(base, `${worker}.1`);
      writeFileSync(page, run([executable, "--man", "--worker", worker]));
      const { stdout } = Bun.spawnSync(["mandoc", "-T", "lint", "-W", "warning", page]);
      // The page has no date, so that equal builds print equal pages.
      const warnings = stdout
        .toString()
        .split("\n")
        .filter((line) => !line.includes("missing date"));
      deepEqual(warnings.filter(Boolean), []);
    }
  });
  for (const unit of ["coder", "shell"])
    await check(`systemd accepts ${unit}.service`, () => {
      const text = readFileSync(join(root, "docs/systemd", `${unit}.service`), "utf8");
      const place = join(base, `${unit}.service`);
      writeFileSync(place, text.replaceAll(`/usr/local/bin/${unit}`, executable));
      const { exitCode, stderr } = Bun.spawnSync(["systemd-analyze", "verify", "--man=no", place]);
      equal(stderr.toString(), "");
      equal(exitCode, 0);
    });
}
