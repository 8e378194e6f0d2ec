import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "../base/log/log.ts";
import { ShortageError } from "../base/shortage.ts";
import { defaultShellConfig } from "./config.ts";
import { type ConfinementOptions, openConfinement } from "./confinement.ts";
import { createPrograms } from "./programs/programs.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(folder, { recursive: true }));

const lines: string[] = [];
const record = (message: string, fields?: object) => lines.push(`${message} ${JSON.stringify(fields)}`);
const log = { debug: record, info: record, warn: record, error: record } as unknown as Log;

const defaults: ConfinementOptions = {
  isAgent: false,
  environment: { TMPDIR: folder },
  log,
};
const byDefault = defaultShellConfig();
const config = { ...byDefault, fs: { ...byDefault.fs, host_root: folder } };
const half = {
  holds: ["limits"],
  lacks: ["files"],
  hasMounts: false,
  network: "none",
  hidden: () => [],
  kept: () => [],
  keepsFiles: false,
  hidesProcesses: false,
  hasGroups: false,
  launch: () => ({}) as never,
  close() {},
} as const;

describe("whether commands are confined", () => {
  test.each([
    [null, "auto", false, false],
    [null, "auto", true, true],
    [null, "agent", false, true],
    [null, "contract", true, false],
    ["off", "agent", true, false],
    ["best", "contract", false, true],
  ] as const)(
    "os_sandbox %s in the profile %s, over MCP %s: %s",
    async (os_sandbox, profile, isAgent, isConfined) => {
      const confinement = await openConfinement({ ...config, os_sandbox, profile }, { ...defaults, isAgent });
      expect(confinement.begin().launcher !== undefined).toBe(isConfined);
      await confinement.close();
    },
  );
});

describe("a system that lacks something", () => {
  const open = () => half;

  test("is refused where that is required, and leaves nothing behind", async () => {
    const required = { ...config, os_sandbox: "required" } as const;
    await expect(openConfinement(required, { ...defaults, open })).rejects.toThrow(
      "os_sandbox is required, and this system lacks what confines files; take a newer kernel, or set os_sandbox to best, which does what it can",
    );
    await expect(openConfinement(required, { ...defaults, open: () => undefined })).rejects.toThrow(
      "lacks what confines everything",
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each([
    ["EMFILE", "because this program has too many files open (EMFILE); raise its limit (ulimit -n,"],
    ["ENFILE", "the system has too many files open (ENFILE); raise the limit of the system"],
    ["ENOMEM", "no memory is left (ENOMEM); free some"],
    ["EAGAIN", "no further process can be started (EAGAIN); raise the limit of processes"],
  ])("is not one with a shortage (%s), which ends the start", async (code, reason) => {
    const fail = () => {
      throw new ShortageError(code);
    };
    for (const os_sandbox of ["best", "required"] as const)
      await expect(openConfinement({ ...config, os_sandbox }, { ...defaults, open: fail })).rejects.toThrow(
        reason,
      );
    expect(readdirSync(folder)).toEqual([]);
  });

  test("confines as far as it can with best, and says so", async () => {
    lines.length = 0;
    for (const opening of [open, () => undefined]) {
      const options = { ...defaults, open: opening };
      await (await openConfinement({ ...config, os_sandbox: "best" }, options)).close();
    }
    expect(lines).toEqual([
      'os sandbox {"holds":"limits","lacks":"files","network":"none","mounts":false,"cgroups":false,"hides_processes":false}',
      'os sandbox {"holds":"nothing","lacks":"everything","network":"full","mounts":false,"cgroups":false,"hides_processes":false}',
    ]);
  });
});

test("a working folder that is not there keeps no worker from starting", async () => {
  const missing = { ...byDefault, os_sandbox: "best" as const, working_dir: "/missing/folder" };
  await (await openConfinement(missing, defaults)).close();
});

test.each(["relative", "/missing/folder"])("writable_folders holds no %s", async (path) => {
  const wrong = { ...config, os_sandbox: "best" as const, writable_folders: [path] };
  await expect(openConfinement(wrong, defaults)).rejects.toThrow(
    `holds "${path}"; write the absolute path of a folder that is there`,
  );
});

describe("a confined program", () => {
  const touch = realpathSync("/usr/bin/touch");
  const run = async (file: string, path: string, descriptor?: number) => {
    const confinement = await openConfinement({ ...config, os_sandbox: "best" }, defaults);
    const { launcher } = confinement.begin();
    const changed = async (program: Parameters<typeof launcher & {}>[0]) => ({
      ...(await launcher!(program)),
      ...(descriptor === undefined ? {} : { descriptor }),
    });
    const options = { environment: {}, folder, maxOutputBytes: 1024, launcher: changed };
    try {
      return await createPrograms(1).run({ file, argv: ["touch", path] }, options, { timeoutMs: 10_000 });
    } finally {
      await confinement.close();
    }
  };

  test("runs", async () => {
    const path = join(folder, "made");
    expect(await run(touch, path)).toMatchObject({ exit_code: 0, stderr: "" });
    expect(existsSync(path)).toBe(true);
  });

  test("ends with its exit code, also when others end while its launcher works", async () => {
    const { begin, close } = await openConfinement({ ...config, os_sandbox: "best" }, defaults);
    const programs = createPrograms(8);
    const options = { environment: {}, folder, maxOutputBytes: 1024, launcher: begin().launcher };
    const program = { file: realpathSync("/bin/sh"), argv: ["sh", "-c", "exit 7"] as const };
    const runs = Array.from({ length: 60 }, () => programs.run(program, options, { timeoutMs: 60_000 }));
    expect(new Set((await Promise.all(runs)).map(({ exit_code }) => exit_code))).toEqual(new Set([7]));
    await close();
  });

  test("that is not there, or cannot be executed, has not started", async () => {
    expect(run(join(folder, "missing"), "x")).rejects.toMatchObject({ problem: "missing" });
    expect(run("/etc/hosts", "x")).rejects.toMatchObject({ problem: "not-executable" });
  });

  test("does not run when the kernel does not take its rules", async () => {
    const path = join(folder, "refused");
    // Descriptor 0 is not a ruleset.
    await expect(run(touch, path, 0)).rejects.toMatchObject({ problem: "not-confined" });
    expect(existsSync(path)).toBe(false);
  });
});

describe("a TMPDIR that cannot be used is named, with the cause and the repair", () => {
  test.each([
    [join(folder, "absent"), "it does not exist (ENOENT)"],
    [process.execPath, "it is not a folder (ENOTDIR)"],
  ])("%s", async (TMPDIR, cause) => {
    const start = () =>
      openConfinement({ ...config, os_sandbox: "best" }, { ...defaults, environment: { TMPDIR } });
    await expect(start()).rejects.toThrow(
      `TMPDIR is ${JSON.stringify(TMPDIR)}, and the temporary files of commands cannot be made there: ${cause}; set TMPDIR to a folder that this user can write`,
    );
  });
});
