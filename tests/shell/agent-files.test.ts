/** `shell::fs::*` in the profile `agent`, where its answers differ from those of 0.3.5 (shell §15). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { linkSync, readdirSync } from "node:fs";
import { defaultSubjects } from "../harness/subject.ts";
import { expectCode } from "./case.ts";
import { openChannel, sendAll } from "./channels.ts";
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

  test("stat answers the name that was sent, and that it is a link", async () => {
    const { name, answer } = open({ "d/f": "x", l: { link: "d/f" }, folder: { link: "d" } });
    const file = { is_dir: false, size: 1 };
    expect(await answer("stat", { path: `${name}/l` })).toMatchObject({
      ...file,
      name: "l",
      is_symlink: true,
    });
    expect(await answer("stat", { path: `${name}/folder/f` })).toMatchObject({
      ...file,
      name: "f",
      is_symlink: false,
    });
    const folder = { name: "folder", is_dir: true, is_symlink: true };
    expect(await answer("stat", { path: `${name}/folder/` })).toMatchObject(folder);
    expect(await answer("stat", { path: `${name}/folder/..` })).toMatchObject({ name, is_symlink: false });
  });

  test("a missing folder is named, with the call that makes it", async () => {
    const { name, refused, exists } = open({ f: "x" });
    const content = { channel_id: "none", access_key: "none" };
    const words = [`path not found: ${name}/w/g`, `"${name}/w" is missing`, '"parents": true'];
    await refused("write", { path: `${name}/w/g`, content, size: 0 }, "S211", ...words);
    await refused("mkdir", { path: `${name}/w/g` }, "S211", ...words);
    const move = { src: `${name}/f`, dst: `${name}/w/g` };
    await refused("mv", move, "S211", ...words, "shell::fs::mkdir");
    await refused("mv", { ...move, src: `${name}/none` }, "S211", "src not found");
    expect(exists("f")).toBe(true);
  });

  test("what mkdir meets is not to be removed", async () => {
    const { name, call, refused } = open({ f: "x", "d/": null });
    for (const path of [`${name}/f`, `${name}/d`])
      expect(JSON.stringify(await call("mkdir", { path }))).toMatch(/S213.*parents(?!.*shell::fs::rm)/);
    await refused("mkdir", { path: `${name}/f`, parents: true }, "S213", "not a folder", "another name");
  });

  test.each([
    ["a folder, with a folder", { src: "d", dst: "full" }, "S213", ['Send "dst": "<name>/full/d"']],
    ["a full folder", { src: "d", dst: "full", overwrite: true }, "S214", ['Send "dst": "<name>/full/d"']],
    ["a folder, with a file", { src: "f", dst: "empty/", overwrite: true }, "S213", ["/empty/f"]],
    ["a file, with a folder", { src: "d", dst: "f" }, "S213", ["a folder cannot replace"]],
    ["a file, with a folder, by force", { src: "d", dst: "f", overwrite: true }, "S213", ["cannot replace"]],
    ["a folder around it", { src: "full/in", dst: "full" }, "S213", ["folder. Nothing was moved. Choose"]],
    ["a folder in it", { src: "full", dst: "full/in" }, "S213", ["folder. Nothing was moved. Choose"]],
    ["a file", { src: "f", dst: "g" }, "S213", ['"overwrite": true']],
  ])("mv does not replace %s, and says where it may go", async (_, { src, dst, ...rest }, code, words) => {
    const { name, refused, folder } = open({ "d/x": "x", "full/in/y": "y", "empty/": null, f: "f", g: "g" });
    const before = readdirSync(folder, { recursive: true });
    const sent = { src: `${name}/${src}`, dst: `${name}/${dst}`, ...rest };
    await refused(
      "mv",
      sent,
      code,
      "dst already exists",
      ...words.map((word) => word.replace("<name>", name)),
    );
    expect(readdirSync(folder, { recursive: true })).toEqual(before);
  });

  test("mv does not move a folder into itself", async () => {
    const { name, refused } = open({ "d/x": "x" });
    const sent = { src: `${name}/d`, dst: `${name}/d/y` };
    await refused("mv", sent, "S216", "into itself", `outside of "${name}/d"`);
  });

  test("mv replaces an empty folder, and has not moved what has the name already", async () => {
    const { name, answer, exists, at } = open({ "d/x": "x", "empty/": null, f: "f" });
    const mv = (src: string, dst: string, overwrite: boolean) =>
      answer("mv", { src: `${name}/${src}`, dst: `${name}/${dst}`, overwrite });
    expect(await mv("d", "empty", true)).toEqual({ moved: true });
    expect(exists("empty/x")).toBe(true);
    for (const overwrite of [false, true]) expect(await mv("f", "./f", overwrite)).toEqual({ moved: false });
    linkSync(at("f"), at("g"));
    expect(await mv("f", "g", true)).toEqual({ moved: true });
    expect([exists("f"), exists("g")]).toEqual([false, true]);
  });

  test("a denied path is told the rule", async () => {
    const { name, refused } = open({ ".env": "x", "d/.env": "x", l: { link: "d/.env" } });
    await refused("stat", { path: `${name}/.env` }, "S215", "the deny rule **/.env");
    await refused("rm", { path: `${name}/d`, recursive: true }, "S215", "fs.deny_globs");
    await refused("stat", { path: `${name}/l` }, "S215", "fs.deny_globs");
  });

  test("a wrong number of bytes is not to be sent again", async () => {
    const { name, call, exists } = open({});
    const { reader, writer } = await openChannel(served);
    const outcome = call("write", { path: `${name}/f`, content: reader, size: 3 });
    sendAll(writer, Buffer.from("12345"));
    expectCode(await outcome, "S216", "after 5 bytes and 3 were announced", "`size`");
    expect(exists("f")).toBe(false);
  });
});
