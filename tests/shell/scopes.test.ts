/** `shell::*` with the `fs_scope` of sessions of iii's harness (shell §15), and pages of `shell::fs::ls`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { logFaults } from "../harness/with-worker.ts";
import { answerOf, expectCode } from "./case.ts";
import { jailed } from "./fixture.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

const subject = "executable";
const sandboxTarget = { kind: "sandbox", sandbox_id: "0b6fbd0e-5ac4-4d52-9a0f-6d2e3c1f7b48" };

describe.each(["contract", "agent"])("with the profile %s", (profile) => {
  let served: ShellFixture;
  let folder: string;
  /** The scope of a session whose root is `app`. */
  let session: { readonly root: string; readonly boundary: string; readonly grants: readonly string[] };

  beforeAll(async () => {
    served = await startShell(subject, { ...jailed(), profile, os_sandbox: "off" });
    ({ folder } = served);
    for (const name of ["app/src", "docs", "workspace"]) mkdirSync(join(folder, name), { recursive: true });
    for (const name of ["app/a.txt", "app/src/b.txt", "docs/d.txt", "workspace/w.txt"])
      writeFileSync(join(folder, name), `needle in ${name}\n`);
    session = { root: join(folder, "app"), boundary: "workspace", grants: ["/", "/srv/of-another-worker"] };
  });
  afterAll(async () => {
    expect(await served.stop()).toBe(0);
    expect(logFaults(served.worker.stdout(), served.worker.stderr())).toEqual([]);
  });

  const call = (id: string, payload: object) =>
    served.call(`shell::${id}`, { fs_scope: { ...session, session_id: "s" }, ...payload });
  const answer = async (id: string, payload: object) => answerOf(await call(id, payload));
  const refused = async (id: string, payload: object, code: string, ...words: string[]) =>
    expectCode(await call(id, payload), code, ...words);

  test("paths are relative to the session or absolute in it", async () => {
    for (const path of ["a.txt", "./src/../a.txt", join(folder, "app/a.txt")])
      expect(await answer("fs::stat", { path })).toMatchObject({ name: "a.txt", is_dir: false });
    expect(await answer("fs::ls", { path: "." })).toMatchObject({
      entries: [{ name: "a.txt" }, { name: "src" }],
    });
    expect(await answer("fs::grep", { path: ".", pattern: "needle" })).toMatchObject({
      matches: [{ path: join(folder, "app/a.txt") }, { path: join(folder, "app/src/b.txt") }],
    });
  });

  test("each function is limited to it", async () => {
    const outside = [join(folder, "docs/d.txt"), "../docs/d.txt"];
    for (const path of outside) {
      await refused("fs::stat", { path }, "S215", "fs_scope");
      await refused("fs::grep", { path, pattern: "x" }, "S215", "fs_scope");
      await refused("fs::read", { path }, "S215", "fs_scope");
      await refused("fs::rm", { path }, "S215", "fs_scope");
      await refused("fs::chmod", { path, mode: "0600" }, "S215", "fs_scope");
      await refused("fs::mkdir", { path: `${path}-new` }, "S215", "fs_scope");
      await refused("fs::mv", { src: path, dst: "x" }, "S215", "fs_scope");
      await refused("fs::mv", { src: "a.txt", dst: `${path}-new` }, "S215", "fs_scope");
      await refused("fs::sed", { path, pattern: "a", replacement: "b" }, "S215", "fs_scope");
      const content = { channel_id: "c", access_key: "k" };
      await refused("fs::write", { path, content }, "S215", "fs_scope");
    }
    await refused("fs::ls", { path: ".." }, "S215", "fs_scope");
    expect(readFileSync(join(folder, "docs/d.txt"), "utf8")).toBe("needle in docs/d.txt\n");
    expect(readFileSync(join(folder, "app/a.txt"), "utf8")).toBe("needle in app/a.txt\n");
  });

  test("grants and configured roots widen the session, never the served folder", async () => {
    const path = join(folder, "docs/d.txt");
    const granted = { ...session, grants: [join(folder, "docs")] };
    expect(await answer("fs::stat", { path, fs_scope: granted })).toMatchObject({ name: "d.txt" });
    const everything = { ...session, boundary: "configured_roots" };
    expect(await answer("fs::stat", { path, fs_scope: everything })).toMatchObject({ name: "d.txt" });
    for (const fs_scope of [granted, everything, { ...session, grants: ["/"] }])
      await refused("fs::stat", { path: "/etc/hostname", fs_scope }, "S215");
    await refused("fs::stat", { path: "x", fs_scope: { ...session, root: "/" } }, "S215");
    await refused("fs::stat", { path: "x", fs_scope: { ...session, root: 7 } }, "S210", "root");
    await refused("fs::stat", { path: "x", fs_scope: { ...session, grants: "app" } }, "S210", "grants");
  });

  test("without the two words it is a scope of coder's form", async () => {
    const root = join(folder, "workspace");
    const path = join(root, "w.txt");
    const fs_scope = { root, grants: [{ path }] };
    expect(await answer("fs::stat", { path, fs_scope })).toMatchObject({ name: "w.txt" });
    await refused("fs::stat", { path: join(root, "x.txt"), fs_scope }, "S215", "fs_scope");
    const named = { root, boundary: root };
    expect(await answer("fs::stat", { path, fs_scope: named })).toMatchObject({ name: "w.txt" });
  });

  test("a command starts in the session, and a folder outside is refused", async () => {
    expect(await answer("exec", { command: "pwd" })).toMatchObject({ stdout: `${session.root}\n` });
    const src = join(session.root, "src");
    expect(await answer("exec", { command: "pwd", cwd: "src" })).toMatchObject({ stdout: `${src}\n` });
    await refused("exec", { command: "pwd", cwd: join(folder, "docs") }, "S215", "fs_scope");
    const job = await answer("exec_bg", { command: "pwd", start_ms: 5000 });
    expect(JSON.stringify(job)).toContain(JSON.stringify(`${session.root}\n`).slice(1, -1));
  });

  test("a command cannot be limited as coder's form would, and says so", async () => {
    const fs_scope = { root: session.root };
    await refused("exec", { command: "sh -c 'touch made'", fs_scope }, "S210", "fs_scope", "exec");
    await refused("exec_bg", { command: "sh -c 'touch made'", fs_scope }, "S210", "fs_scope");
    await refused("list", { fs_scope }, "S210", "fs_scope");
    expect(existsSync(join(folder, "made")) || existsSync(join(session.root, "made"))).toBe(false);
  });

  test("calls that touch no file here ignore it", async () => {
    expect(await answer("list", {})).toHaveProperty("jobs");
    served.sandbox.reply = () => ({ result: { entries: [] } });
    served.sandbox.received.length = 0;
    expect(await answer("fs::ls", { path: "/anywhere", target: sandboxTarget })).toEqual({ entries: [] });
    expect(served.sandbox.received.map(({ payload }) => payload)).toEqual([
      { path: "/anywhere", sandbox_id: sandboxTarget.sandbox_id },
    ]);
    const fs_scope = { root: session.root };
    await refused("fs::ls", { path: "/x", target: sandboxTarget, fs_scope }, "S210", "sandbox");
  });

  test("a folder is listed in pages", async () => {
    const path = join(folder, "many");
    mkdirSync(path);
    const names = Array.from({ length: 7 }, (_, number) => `f${number}`);
    for (const name of names) writeFileSync(join(path, name), "");
    const namesOf = ({ entries }: Record<string, unknown>) =>
      (entries as { readonly name: string }[]).map(({ name }) => name);
    const paged = (payload: object) => answer("fs::ls", { path, fs_scope: null, ...payload });
    const second = await paged({ page: 2, page_size: 3 });
    expect(second).toEqual({
      entries: expect.any(Array),
      total: 7,
      page: 2,
      page_size: 3,
      has_more: true,
    });
    expect(namesOf(second)).toEqual(names.slice(3, 6));
    expect(await paged({ page: 3, page_size: 3 })).toMatchObject({
      entries: [{ name: "f6" }],
      has_more: false,
    });
    expect(await paged({ page: 9, page_size: 3 })).toMatchObject({ entries: [], total: 7, has_more: false });
    expect(await paged({ page: 1 })).toMatchObject({ page_size: 500, has_more: false });
    expect(await paged({ page_size: 9999 })).toMatchObject({ page: 1, page_size: 2000 });
    const whole = await paged({});
    expect(namesOf(whole)).toEqual(names);
    expect(Object.keys(whole).sort()).toEqual(
      profile === "agent" ? ["entries", "has_more", "page", "page_size", "total"] : ["entries"],
    );
  });
});
