/**
 * `npm run suite -- shells`: loads the completions in the real shells, checks the words that fish offers, and
 * runs Debian's linters on the manual pages, the systemd units and the Homebrew formula. As root on Debian,
 * it installs missing packages. The last line says `N passed, N failed, N skipped`.
 */
import { deepEqual, equal } from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { executable, root } from "../../scripts/build.ts";
import { ensureInstalled } from "../../scripts/release/debian.ts";
import { releaseUrl, renderFormula } from "../../scripts/release/formula.ts";
import { run } from "../../scripts/release/packages.ts";
import { targets } from "../../scripts/release/targets.ts";
import { check, skip, totals } from "../../scripts/release/trial/checks.ts";

const reason = ensureInstalled(["zsh", "fish", "mandoc", "systemd", "ruby"]);
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
  await check("ruby finds nothing to warn of in the formula, and the archive of each machine", tryFormula);
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

/** Loads the formula with a stub of Homebrew, and checks the archive that it names for each machine. */
function tryFormula(): void {
  const artefacts = targets.map((target) => ({
    worker: "coder" as const,
    target,
    archive: `coder-${target.triple}.tar.gz`,
    digest: target.triple,
    archiveBytes: 1,
    executableBytes: 1,
    programBytes: 1,
  }));
  const formula = join(base, "coder.rb");
  writeFileSync(formula, renderFormula(artefacts) ?? "");
  const brew = join(base, "brew.rb");
  writeFileSync(
    brew,
    `class Formula
  def self.method_missing(name, *values)
    ($said[name] ||= []).concat(values)
    yield if block_given? && name.start_with?("on_") && $machine.include?(name)
  end
  def self.respond_to_missing?(*) = true
  def self.test = nil
end
%i[on_macos on_linux].product(%i[on_arm on_intel]).each do |machine|
  $machine, $said = machine, {}
  load ARGV[0]
  puts [*machine, *$said.fetch(:url), *$said.fetch(:sha256)].join(" ")
  Object.send(:remove_const, :Coder)
end
`,
  );
  equal(run(["ruby", "-wc", formula]), "Syntax OK\n");
  const machines = [
    ["on_macos on_arm", "aarch64-apple-darwin"],
    ["on_macos on_intel", "x86_64-apple-darwin"],
    ["on_linux on_arm", "aarch64-unknown-linux-gnu"],
    ["on_linux on_intel", "x86_64-unknown-linux-gnu"],
  ];
  equal(
    run(["ruby", brew, formula]),
    machines
      .map(([machine, triple]) => `${machine} ${releaseUrl(`coder-${triple}.tar.gz`)} ${triple}\n`)
      .join(""),
  );
}
