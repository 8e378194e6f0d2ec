/** Files under hostile or adverse conditions: weaknesses of the original that this worker does not have. */
import { afterAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { defaultSubjects } from "../harness/subject.ts";
import type { Tree } from "../harness/tree.ts";
import { answerOf, expectCode } from "./case.ts";
import { callRead, callWrite, openChannel, readChannel, sendAll } from "./channels.ts";
import { type CaseFolder, jailed, openCaseFolder } from "./fixture.ts";
import { type ConfigFields, type ShellFixture, startShell } from "./shell-fixture.ts";

let served: ShellFixture;

describe.each(defaultSubjects)("%s", (subject) => {
  let servedConfig: string | undefined;
  const stop = async () => {
    if (servedConfig !== undefined) await served.stop();
    servedConfig = undefined;
  };
  afterAll(stop);

  /** Makes a folder. Keeps the worker of the previous test if it has the same configuration. */
  const open = async (tree: Tree, config: ConfigFields = jailed()): Promise<CaseFolder> => {
    const wanted = JSON.stringify(config);
    if (wanted !== servedConfig) {
      await stop();
      served = await startShell(subject, config);
      servedConfig = wanted;
    }
    return openCaseFolder(served, tree);
  };
  const withDenied = jailed({ denylist_paths: ["<folder>/denied"] });

  /** Makes a folder with a denied file and an allowed one. */
  const openDenied = async () => {
    const fixture = await open({}, jailed({ denylist_paths: ["<folder>/box/denied"] }));
    execFileSync("sh", ["-c", "mkdir box && echo needle > box/denied && echo needle > box/open"], {
      cwd: served.folder,
    });
    return { ...fixture, box: `${served.folder}/box` };
  };

  test("a path means the same to the check and to the act", async () => {
    const fixture = await open({ "a/b/c/": null, l: { link: "a/b/c" }, "out/f": "x", "a/out/f": "y" });
    // As text, the path is out/f. On disk, it is a/out/f.
    await fixture.answer("rm", { path: "<base>/l/../../out/f" });
    expect([fixture.exists("out/f"), fixture.exists("a/out/f")]).toEqual([true, false]);
  });

  test("the denylist holds for whatever is visited", async () => {
    const { box, answer, refused } = await openDenied();
    const { matches } = await answer("grep", { path: box, pattern: "needle" });
    expect((matches as { path: string }[]).map(({ path }) => path)).toEqual([`${box}/open`]);
    await refused("rm", { path: box, recursive: true }, "S215");
    await refused("mv", { src: box, dst: `${served.folder}/moved` }, "S215");
    await refused("chmod", { path: box, mode: "0777", recursive: true }, "S215");
    expect(await answer("sed", { path: box, pattern: "needle", replacement: "x" })).toMatchObject({
      total_replacements: 1,
    });
    expect(await answer("ls", { path: box })).toMatchObject({ entries: [{ name: "open" }] });
    expect(readdirSync(box).sort()).toEqual(["denied", "open"]);
    expect(lstatSync(`${box}/denied`).mode & 0o777).not.toBe(0o777);
  });

  test("a name that is denied cannot be made either", async () => {
    const { refused } = await open({}, withDenied);
    await refused("mkdir", { path: `${served.folder}/denied/x`, parents: true }, "S215");
  });

  test("a denied path is denied in every spelling, where that is asked for", async () => {
    const { refused } = await open({}, jailed({ denylist_paths: ["<folder>/denied"], fold_deny: "always" }));
    for (const name of ["DENIED", "denied.", "den\u00adied"])
      await refused("mkdir", { path: `${served.folder}/${name}/x`, parents: true }, "S215");
  });

  test("links that dangle or lead out can be removed", async () => {
    const { answer, exists } = await open({ out: { link: "/etc/passwd" }, dangling: { link: "nowhere" } });
    for (const name of ["out", "dangling"]) {
      expect(await answer("rm", { path: `<base>/${name}` })).toEqual({ removed: true });
      expect(exists(name)).toBe(false);
    }
  });

  test("the root itself stays as it is", async () => {
    const { refused } = await open({ f: "x" });
    const path = served.folder;
    const mode = statSync(path).mode;
    await refused("rm", { path, recursive: true }, "S210");
    await refused("chmod", { path, mode: "0000" }, "S215");
    await refused("mv", { src: path, dst: `${path}/x` }, "S215");
    expect(statSync(path).mode).toBe(mode);
  });

  test("a file in the way of a folder is an error", async () => {
    await (await open({ f: "x" })).refused("mkdir", { path: "<base>/f", parents: true }, "S213");
  });

  test("modes that are no modes, or that lend rights, are refused", async () => {
    const { refused } = await open({ f: "x" });
    for (const mode of ["+755", "17777", "4755", "2755", "0o755", "-1", " 755", "8"])
      await refused("chmod", { path: "<base>/f", mode }, "S210");
  });

  test("a file is not cut short by a sender that dies", async () => {
    const fixture = await open({ f: "old" });
    const { reader, writer } = await openChannel(served);
    const outcome = fixture.call("write", { path: "<base>/f", content: reader, size: 100 });
    await new Promise((resolve) => writer.stream.write(Buffer.alloc(50), resolve));
    writer.stream.on("error", () => undefined).destroy();
    expectCode(await outcome, "S216", "50 bytes and 100 were announced");
    expect([fixture.text("f"), readdirSync(fixture.folder)]).toEqual(["old", ["f"]]);
  });

  test("nor by one that announced its size on the channel, or reports a failure", async () => {
    const fixture = await open({});
    for (const message of ['{"size":100}', '{"error":"disk full"}']) {
      const { reader, writer } = await openChannel(served);
      const outcome = fixture.call("write", { path: "<base>/f", content: reader });
      writer.sendMessage(message);
      sendAll(writer, Buffer.alloc(50));
      expectCode(await outcome, "S216");
    }
    expect(readdirSync(fixture.folder)).toEqual([]);
  });

  test("a replaced file keeps its mode unless another is given", async () => {
    const fixture = await open({ f: { mode: 0o600, text: "old" } });
    answerOf(await callWrite(fixture, { path: "<base>/f" }, Buffer.from("new")));
    expect([fixture.text("f"), fixture.mode("f")]).toEqual(["new", 0o600]);
  });

  test("a folder in the way is noticed before anything is sent, and no folder is left behind", async () => {
    const { refused, folder } = await open({ "d/": null });
    const content = { channel_id: "no-such-channel", access_key: "no-such-key" };
    await refused("write", { path: "<base>/d", content }, "S216", "is a folder");
    await refused("write", { path: "<base>/x/y/f", content, parents: true }, "S216");
    expect(readdirSync(folder)).toEqual(["d"]);
  });

  test("a FIFO is neither read nor searched nor waited for", async () => {
    const { refused, answer, at } = await open({ f: "x" });
    execFileSync("mkfifo", [at("pipe")]);
    await refused("read", { path: "<base>/pipe" }, "S212");
    expect(await answer("grep", { path: "<base>/pipe", pattern: "x" })).toEqual({
      matches: [],
      truncated: false,
    });
    expect(await answer("sed", { files: ["<base>/pipe"], pattern: "x", replacement: "y" })).toMatchObject({
      results: [{ success: false }],
    });
  });

  test("a file that grows over the limit while it is sent is cut, and the reader is told", async () => {
    // More bytes than channels and sockets hold, so that the file grows during the transfer.
    const [limit, megabytes] = [33_000_000, 32];
    const fixture = await open({}, jailed({ max_read_bytes: limit }));
    const grow = (count: number) =>
      execFileSync("sh", ["-c", `head -c ${count}000000 /dev/zero >> f`], { cwd: fixture.folder });
    grow(megabytes);
    const { content, size } = await fixture.answer("read", { path: "<base>/f" });
    grow(2);
    const { bytes, messages } = await readChannel(served, content);
    expect([size, messages]).toEqual([
      megabytes * 1_000_000,
      [expect.stringMatching(/^\{"error":".*fs\.max_read_bytes/)],
    ]);
    expect(bytes.length).toBeLessThanOrEqual(limit);
  });

  test("no edit of one file is lost, however many there are at once", async () => {
    const words = Array.from({ length: 50 }, (_, index) => `<${index}>`);
    const fixture = await open({ f: words.join("\n") });
    const edits = words.map((word) =>
      fixture.answer("sed", { files: ["<base>/f"], pattern: word, replacement: `${word} is done` }),
    );
    for (const { results } of await Promise.all(edits)) expect(results).toMatchObject([{ success: true }]);
    expect(fixture.text("f")).toBe(words.map((word) => `${word} is done`).join("\n"));
  });

  test("sed leaves alone what it has no match in, and keeps links", async () => {
    const fixture = await open({ f: "x", l: { link: "g" }, g: "y" });
    const before = lstatSync(fixture.at("f"));
    const files = ["<base>/f", "<base>/l"];
    expect(await fixture.answer("sed", { files, pattern: "y", replacement: "z" })).toMatchObject({
      total_replacements: 1,
    });
    const after = lstatSync(fixture.at("f"));
    expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs]);
    expect([readlinkSync(fixture.at("l")), fixture.text("g")]).toEqual(["g", "z"]);
  });

  test("sed takes a dollar in a literal as it is", async () => {
    const fixture = await open({ f: "X x" });
    const literal = { regex: false, ignore_case: true, pattern: "x", replacement: "$5" };
    await fixture.answer("sed", { files: ["<base>/f"], ...literal });
    expect(fixture.text("f")).toBe("$5 $5");
  });

  test("sed has a limit, and says so", async () => {
    const fixture = await open({ f: "x".repeat(2000) }, jailed({ max_write_bytes: 1000 }));
    const { results } = await fixture.answer("sed", { files: ["<base>/f"], pattern: "x", replacement: "y" });
    expect(results).toMatchObject([{ success: false, error: expect.stringContaining("max_write_bytes") }]);
  });

  test("grep goes on past what it may not read", async () => {
    const fixture = await open({ a: "x\n", b: "x\n" });
    chmodSync(fixture.at("a"), 0);
    const { matches } = await fixture.answer("grep", { path: "<base>", pattern: "x" });
    const lines = process.getuid?.() === 0 ? 2 : 1;
    expect(matches).toHaveLength(lines);
  });

  test("grep is answered in a message that the bus carries", async () => {
    const fixture = await open({ f: `${"x".repeat(4000)}\n`.repeat(6000) });
    const { matches, truncated } = await fixture.answer("grep", { path: "<base>", pattern: "x" });
    expect(truncated).toBe(true);
    expect((matches as unknown[]).length).toBeGreaterThan(3000);
  });

  test("globs reach nested folders", async () => {
    const fixture = await open({ "target/a/b": "x\n", "x/target/c": "x\n" });
    const { matches } = await fixture.answer("grep", {
      path: "<base>",
      pattern: "x",
      include_glob: ["**/target/**"],
    });
    expect(matches).toHaveLength(2);
  });

  test("a file is moved between file systems with its mode and time", async () => {
    const fixture = await open({ f: { mode: 0o640, text: "x" } }, {});
    const away = `/dev/shm/coder-${process.pid}`;
    const { mtimeMs } = lstatSync(fixture.at("f"));
    await fixture.answer("mv", { src: "<base>/f", dst: away });
    expect(fixture.exists("f")).toBe(false);
    expect([lstatSync(away).mode & 0o777, Math.abs(lstatSync(away).mtimeMs - mtimeMs) < 2]).toEqual([
      0o640,
      true,
    ]);
    await fixture.answer("rm", { path: away });
  });

  test("chmod of a tree reaches everything, whatever its mode does to its folders", async () => {
    const fixture = await open({ "d/e/f": "x" });
    expect(await fixture.answer("chmod", { path: "<base>/d", mode: "0600", recursive: true })).toEqual({
      updated: 3,
    });
    expect(await fixture.answer("chmod", { path: "<base>/d", mode: "0755", recursive: true })).toEqual({
      updated: 3,
    });
    expect(fixture.mode("d/e/f")).toBe(0o755);
  });

  test("chmod of a tree changes a folder after what is in it", async () => {
    const fixture = await open({ "d/": null });
    execFileSync("sh", ["-c", "seq 3000 | xargs touch"], { cwd: fixture.at("d") });
    await fixture.answer("chmod", { path: "<base>/d", mode: "0700", recursive: true });
    const changed = (path: string) => lstatSync(fixture.at(path), { bigint: true }).ctimeNs;
    const within = readdirSync(fixture.at("d")).map((name) => changed(`d/${name}`));
    expect(within.filter((time) => time > changed("d"))).toEqual([]);
  });

  test("a folder is listed in the order of its names", async () => {
    const { answer } = await open({ c: "", a: "", b: "" });
    const { entries } = await answer("ls", { path: "<base>" });
    expect((entries as { name: string }[]).map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });

  test("a large file goes out whole while nobody is in a hurry", async () => {
    const body = Buffer.alloc(8 * 1024 * 1024, "0123456789abcdef");
    const fixture = await open({ f: body }, jailed({ max_read_bytes: 0 }));
    expect((await callRead(fixture, "<base>/f")).equals(body)).toBe(true);
  });
});
