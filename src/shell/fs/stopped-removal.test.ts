/** Tests an `rm` that the system stops halfway. */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../base/log/log.ts";
import { createInvoke } from "../../calls/invoke.ts";
import { chownToNobody, unprivileged } from "../../filesystem/files/unprivileged.test-kit.ts";
import { defaultShellConfig, type ShellConfig } from "../config.ts";
import { openShell } from "../services.ts";
import { mkdir } from "./mkdir.ts";
import { rm } from "./rm.ts";

const log = createLog({ level: "error", form: "text", write: () => undefined });

interface Stopped {
  /** The error of an `rm` of `d`, whose third entry may not be removed. */
  readonly error: string;
  /** The names that are left in `d`. */
  readonly left: readonly string[];
  readonly root: string;
}

/** Removes `d`, by a path that `pathOf` makes from the served folder. */
async function stopIn(changes: Partial<ShellConfig>, pathOf = (_root: string) => "d"): Promise<Stopped> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  const root = join(folder, "served");
  const at = (path: string) => join(root, path);
  for (const path of ["", "d", "d/a", "d/closed"]) mkdirSync(at(path));
  for (const path of ["d/a/1", "d/closed/f", "d/z"]) writeFileSync(at(path), "text\n");
  for (const path of ["", "d", "d/a", "d/closed"]) chownToNobody(at(path));
  chmodSync(folder, 0o755);
  chmodSync(at("d/closed"), 0o555);
  const config = defaultShellConfig();
  const journal = { dir: join(folder, "state"), max_bytes: 100_000_000, max_records: 500 };
  const fs = { ...config.fs, host_root: root };
  const runtime = await openShell(
    { ...config, profile: "agent", os_sandbox: "off", working_dir: root, fs, journal, ...changes },
    { environment: {}, log },
  );
  try {
    const invoke = createInvoke(runtime, log);
    // The files of the journal that the unprivileged call adds to are open from here on.
    await invoke(mkdir, { path: join(root, "first") });
    const outcome = await unprivileged(() => invoke(rm, { path: pathOf(root), recursive: true }));
    return { error: "error" in outcome ? outcome.error : "", left: readdirSync(at("d")).sort(), root };
  } finally {
    await runtime.close();
    chmodSync(at("d/closed"), 0o755);
    rmSync(folder, { recursive: true });
  }
}

const gone =
  '2 entries of the folder "d" are gone already, and the rest is still there. coder::undo {"seq":2} brings back what is gone. To delete the rest, repeat the call once nothing prevents it.';

test("the error says where it stopped, what is gone, and how that comes back", async () => {
  const { error, left } = await stopIn({});
  expect(error).toContain('does not permit this on \\"d/closed/f\\"');
  expect(JSON.parse(error).message).toEndWith(gone);
  expect(left).toEqual(["closed", "z"]);
});

test("by an absolute path, the entry has one too", async () => {
  const { error, root } = await stopIn({ journal: null }, (served) => join(served, "d"));
  expect(JSON.parse(error).message).toContain(`on "${root}/d/closed/f"`);
  expect(error).toContain("2 entries of the folder");
  expect(error).not.toContain("undo");
});

test("in the profile contract the error is that of shell 0.3.5", async () => {
  const { error, left } = await stopIn({ profile: "contract" }, (served) => join(served, "d"));
  expect(error).not.toContain("gone");
  expect(left).toEqual(["closed", "z"]);
});
