/**
 * Real work under the sandbox of commands, in folders with a denied `.env`: `npm run suite -- commands`. It
 * needs git, npm with access to its registry, make, cc and python3, and takes minutes.
 */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../../harness/subject.ts";
import { answerOf } from "../case.ts";
import { startShell } from "../shell-fixture.ts";

/**
 * Lines of bash for the served folder. `isBefore` makes one run first and without the sandbox, to fill a
 * cache.
 */
const work: readonly { readonly name: string; readonly line: string; readonly isBefore?: boolean }[] = [
  {
    name: "git",
    line: `mkdir repository && cd repository && git init -q . && echo one > file && git add file && git -c user.name=a -c user.email=a@b commit -qm first &&
      git checkout -qb other && echo two >> file && git -c user.name=a -c user.email=a@b commit -qam second && git log --oneline && git status --short && git gc -q`,
  },
  {
    name: "make and cc",
    line: `mkdir c && cd c && printf '#include <stdio.h>\\nint main(void) { return puts("made") < 0; }\\n' > main.c && printf 'all: main\\n\\t./main\\n' > Makefile && make -j2`,
  },
  { name: "npm ci, which fills the cache", line: "cd package && npm ci --cache ../cache", isBefore: true },
  {
    name: "npm ci from the cache",
    line: "cd package && npm ci --offline --cache ../cache && node -e 'require(\"yaml\")'",
  },
  {
    name: "python -m venv",
    line: "python3 -m venv environment && environment/bin/python -c 'import sys; assert sys.prefix != sys.base_prefix'",
  },
  {
    name: "tar, find, sed and sort",
    line: "tar cf all.tar repository && find . -name '*.c' | xargs sed -i s/made/built/ && sort c/main.c",
  },
  {
    name: "git, beside a denied file",
    line: "git init -q . && git add c && git -c user.name=a -c user.email=a@b commit -qm first && git status --short && ! cat .env",
  },
  { name: "a pipe, a here-document and a background job", line: "cat <<X | grep one & wait\none\nX" },
];

const config = (os_sandbox: string, root: string) => ({
  allowlist: ["bash", process.execPath],
  allowed_env: ["PATH", "HOME"],
  denylist_patterns: [],
  default_timeout_ms: 600_000,
  max_timeout_ms: 600_000,
  max_output_bytes: 65_536,
  fs: { host_root: root, denylist_paths: ["/etc/shadow", "<folder>/.env", "<folder>/package/.env"] },
  os_sandbox,
});

const failures: string[] = [];

async function run(
  served: Awaited<ReturnType<typeof startShell>>,
  name: string,
  line: string,
): Promise<void> {
  const args = ["-c", line];
  const answer = await served.client.trigger<unknown, Record<string, unknown>>({
    function_id: "shell::exec",
    payload: { command: "bash", args },
    timeoutMs: 700_000,
  });
  const { exit_code, stdout, stderr, duration_ms } = answerOf({ answer });
  const isDone = exit_code === 0;
  console.log(`${isDone ? "passed" : "failed"}: ${name} (${duration_ms} ms)`);
  if (isDone) return;
  failures.push(name);
  console.log(`exit code ${exit_code}\n${stdout}\n${stderr}`);
}

const free = await startShell("executable", config("off", "<folder>"));
const confined = await startShell("executable", config("required", "<folder>"));
for (const served of [free, confined]) {
  const folder = join(served.folder, "package");
  mkdirSync(folder);
  for (const denied of [join(served.folder, ".env"), join(folder, ".env")]) writeFileSync(denied, "secret\n");
  writeFileSync(
    join(folder, "package.json"),
    '{ "name": "a", "version": "1.0.0", "dependencies": { "yaml": "2.9.1" } }',
  );
}
const before = work.filter(({ isBefore }) => isBefore === true);
await run(
  free,
  "a lock file",
  `cd ${free.folder}/package && npm install --package-lock-only --cache ../cache`,
);
for (const { name, line } of before) await run(free, name, `cd ${free.folder}; ${line}`);
copyFileSync(
  join(free.folder, "package/package-lock.json"),
  join(confined.folder, "package/package-lock.json"),
);
await run(free, "a warm cache", `cp -r ${free.folder}/cache ${confined.folder}/cache`);
for (const { name, line } of work) {
  if (!before.some((one) => one.name === name)) await run(confined, name, `cd ${confined.folder}; ${line}`);
}
await free.stop();
await confined.stop();

const own = await startShell("executable", config("required", repository));
const rooms = "src/text/edits src/text/patch src/text/globs";
await run(own, `the units of ${rooms}`, `cd ${repository} && npm run suite -- only ${rooms}`);
await own.stop();
console.log(failures.length === 0 ? "all passed" : `failed: ${failures.join(", ")}`);
process.exit(failures.length === 0 ? 0 : 1);
