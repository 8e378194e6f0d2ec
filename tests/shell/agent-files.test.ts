/** `shell::fs::*` in the profile `agent`, where its answers differ from those of 0.3.5 (shell §15). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { defaultSubjects } from "../harness/subject.ts";
import { jailed, openCaseFolder } from "./fixture.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

describe.each(defaultSubjects)("%s", (subject) => {
  let served: ShellFixture;
  beforeAll(async () => {
    served = await startShell(subject, { ...jailed(), profile: "agent", os_sandbox: "off" });
  });
  afterAll(() => served.stop());

  /** Makes a folder, and returns its name in the served one besides. */
  const open = (tree: Parameters<typeof openCaseFolder>[1]) => {
    const opened = openCaseFolder(served, tree);
    return { ...opened, name: opened.folder.slice(served.folder.length + 1) };
  };

  test("a replacement that names an undefined group deletes nothing", async () => {
    const { name, refused, text } = open({ f: "total\n" });
    const request = { files: [`${name}/f`], pattern: "t", replacement: "$1x", first_only: true };
    await refused("sed", request, "S217", "$1x", "${0}");
    expect(text("f")).toBe("total\n");
  });

  test("found paths are relative if the requested one is", async () => {
    const { name, folder, answer } = open({ "d/f": "needle\n" });
    const found = async (path: string) => {
      const grep = await answer("grep", { path, pattern: "needle" });
      const sed = await answer("sed", { path, pattern: "needle", replacement: "needle" });
      return [...(grep["matches"] as object[]), ...(sed["results"] as object[])].map(
        (one) => (one as { readonly path: string }).path,
      );
    };
    expect(await found(name)).toEqual([`${name}/d/f`, `${name}/d/f`]);
    expect(await found(folder)).toEqual([`${folder}/d/f`, `${folder}/d/f`]);
  });

  test("a path that is found in a scope can be sent in it", async () => {
    const { name, folder, answer } = open({ "d/f": "needle\n" });
    const fs_scope = { root: name };
    const { matches } = await answer("grep", { path: ".", pattern: "needle", fs_scope });
    const [{ path } = { path: "" }] = matches as { readonly path: string }[];
    expect(path).toBe(`${folder}/d/f`);
    expect(await answer("stat", { path, fs_scope })).toMatchObject({ name: "f" });
  });
});
