import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { countDescriptorsBelow } from "../filesystem/jail/jail.test-kit.ts";
import { temporaryName } from "../filesystem/jail/temporary.ts";
import { defaultConfig } from "./config.ts";
import { functions } from "./functions.ts";
import { openCoder, warnAboutGlobs } from "./services.ts";

let base: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
});
afterEach(() => rmSync(base, { recursive: true }));

test("a sweep under way has ended when the runtime is closed, and left the rest", async () => {
  const folders = 50;
  // The name that an earlier process with our process id would have used.
  const temporary = temporaryName().replace(/-[0-9a-z]+-([0-9a-f]{16})$/, "-1-$1");
  for (let n = 0; n < folders; n++) {
    mkdirSync(join(base, `d${n}`));
    writeFileSync(join(base, `d${n}`, temporary), "");
  }
  const runtime = await openCoder({ ...defaultConfig(), base_path: base });
  const sweeping = runtime.sweep!();
  await runtime.close();
  const swept = await Promise.race([sweeping, Promise.resolve("runs on")]);
  const left = (readdirSync(base, { recursive: true }) as string[]).filter((name) =>
    name.endsWith(temporary),
  );
  expect(left.length).toBeGreaterThan(0);
  expect(swept).toBe(folders - left.length);
});

test("a journal that is requested and cannot be written keeps the worker from starting", async () => {
  const journal = { dir: "/proc/state", max_bytes: 1_000_000, max_records: 9 };
  const open = (more: object, options: object = {}) =>
    openCoder({ ...defaultConfig(), base_path: base, ...more }, { environment: {}, ...options });
  expect(open({ journal })).rejects.toThrow(/^journal: the state folder .* set journal\.dir to a folder/);
  expect(open({ journal: { ...journal, dir: undefined } })).rejects.toThrow(
    /^journal: neither XDG_STATE_HOME/,
  );
  // Without changes, and without a journal, nothing has to be written.
  await (await open({ journal: { ...journal, max_records: 0 } })).close();
  await (await open({ journal }, { readOnly: true })).close();
  await (await open({})).close();
});

test.each([
  [
    "the state folder of this user would lie in the folder that is served, where calls could reach it",
    () => ({ XDG_STATE_HOME: join(base, "state") }),
  ],
  [
    "the state folder of this user holds the folder that is served",
    () => {
      symlinkSync(dirname(base), join(base, "coder"));
      return { XDG_STATE_HOME: base };
    },
  ],
  ["neither XDG_STATE_HOME nor HOME is set to an absolute path", () => ({ HOME: "relative" })],
  ["the state folder of this user cannot be reached (ENOTDIR)", () => ({ XDG_STATE_HOME: "/dev/null" })],
])(
  "a journal that is kept by default and cannot be is a warning, and undo says why: %s",
  async (why, environment) => {
    const lines: string[] = [];
    const log = createLog({ level: "info", form: "text", write: (line) => lines.push(line) });
    const config = { ...defaultConfig(), base_path: base, profile: "agent" as const };
    const coder = await openCoder(config, { environment: environment(), log });
    expect(lines.filter((line) => / warn {2}no state is kept reason=/.test(line))).toHaveLength(1);
    const undone = await createInvoke(coder, log)(functions.find(({ id }) => id === "coder::undo")!, {});
    expect(undone).toMatchObject({
      error: expect.stringContaining(
        `No journal is kept here, because ${why}, so nothing is recorded and nothing can be undone. Ask the user to set \`journal.dir\` in the configuration to a folder outside of what is served, which coder can write to.`,
      ),
    });
    await coder.close();
  },
);

test("a journal that the user has turned off says so", async () => {
  const lines: string[] = [];
  const log = createLog({ level: "info", form: "text", write: (line) => lines.push(line) });
  const journal = { max_bytes: 4096, max_records: 0 };
  const config = { ...defaultConfig(), base_path: base, profile: "agent" as const, journal };
  const coder = await openCoder(config, { environment: { XDG_STATE_HOME: join(base, "state") }, log });
  expect(lines.filter((line) => / info {2}no state is kept reason=/.test(line))).toHaveLength(1);
  const undone = await createInvoke(coder, log)(functions.find(({ id }) => id === "coder::undo")!, {});
  expect(undone).toMatchObject({
    error: expect.stringContaining(
      "No journal is kept here, because the configuration sets `journal.max_records` to 0, so nothing is recorded and nothing can be undone. Ask the user to set it higher.",
    ),
  });
  await coder.close();
});

test("without a state folder, transactions keep their records in the temporary directory", async () => {
  for (const profile of ["contract", "agent"] as const) {
    const lines: string[] = [];
    const log = createLog({ level: "warn", form: "text", write: (line) => lines.push(line) });
    const config = { ...defaultConfig(), base_path: base, profile };
    const coder = await openCoder(config, { environment: { XDG_STATE_HOME: "/dev/null" }, log });
    expect([coder.journal, coder.transactions === undefined]).toEqual([undefined, false]);
    expect(lines.filter((line) => line.includes("do not outlive a restart"))).toHaveLength(1);
    await coder.close();
    const readOnly = await openCoder(config, { environment: {}, readOnly: true });
    expect(readOnly.transactions).toBeUndefined();
    await readOnly.close();
  }
});

test("a closed runtime reaches no folder any more", async () => {
  const runtime = await openCoder({ ...defaultConfig(), base_path: base });
  const held = runtime.jail.admitFolder(".");
  await runtime.close();
  if (held.descriptor !== undefined) expect(() => held.openPath(".")).toThrow("after it was closed");
});

test.each([
  [
    "a journal in the folder that is served",
    () => ({ journal: { dir: base, max_bytes: 4096, max_records: 1 } }),
  ],
  [
    "an audit trail in no folder",
    () => ({ audit: { file: join(base, "none/file"), max_bytes: 4096, keep: 0 } }),
  ],
])("with %s nothing stays open", async (_, refused) => {
  const config = { ...defaultConfig(), base_path: base, ...refused() };
  await expect(openCoder(config)).rejects.toThrow(base);
  expect(countDescriptorsBelow(base)).toBe(0);
});

test("globs that can deny nothing are warned about, each with what to write instead", () => {
  const lines: string[] = [];
  const log = createLog({ level: "warn", form: "json", write: (line) => lines.push(line) });
  const globs = ["**/.env", "/secrets/**", `${base}/keys/*`, "tokens/"];
  warnAboutGlobs({ ...defaultConfig(), base_path: base, non_accessible_globs: globs }, log);
  const warned = lines.map((line) => JSON.parse(line) as { glob: string; reason: string });
  expect(warned.map(({ glob }) => glob)).toEqual(globs.slice(1));
  expect(warned.map(({ reason }) => reason.match(/write "(.*)"$/)?.[1])).toEqual([
    "secrets/**",
    "keys/*",
    "tokens/**",
  ]);
  warnAboutGlobs(defaultConfig(), log);
  expect(lines.length).toBe(3);
});

test("the roots of a configuration are opened with turns of the event loop between them", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `root${index}`);
  for (const name of names) mkdirSync(join(base, name));
  const roots = names.map((name) => ({
    name,
    path: join(base, name),
    read_only: false,
    non_accessible_globs: [],
  }));
  let turns = 0;
  let isOpen = false;
  const count = () => {
    turns++;
    if (!isOpen) setImmediate(count);
  };
  setImmediate(count);
  let now = performance.now();
  const clock = spyOn(performance, "now").mockImplementation(() => now++);
  const runtime = await openCoder({ ...defaultConfig(), roots }).finally(() => {
    isOpen = true;
    clock.mockRestore();
  });
  await runtime.close();
  expect(turns).toBeGreaterThanOrEqual(names.length / 2);
});
