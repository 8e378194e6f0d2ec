import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArguments } from "../../../src/config/arguments/arguments.ts";
import { targets } from "../targets.ts";
import { zipFiles } from "../zip.ts";
import { bundleManifest, desktopTargets, packBundle } from "./bundle.ts";

test("bundles are for targets of a release, and each names its platform", () => {
  const triples = targets.map(({ triple }) => triple);
  for (const triple of desktopTargets) expect(triples).toContain(triple);
  expect(bundleManifest("aarch64-apple-darwin").compatibility.platforms).toEqual(["darwin"]);
});

test("a client starts the server as the command line accepts it, with the settings of its user", () => {
  const { server, user_config: settings } = bundleManifest("x86_64-apple-darwin");
  const start = (folders: string[]) => {
    const values: Readonly<Record<string, string[]>> = { folders, read_only: ["true"] };
    expect(Object.keys(values)).toEqual(Object.keys(settings));
    const fill = (text: string) => values[/^\$\{user_config\.(\w+)\}$/.exec(text)?.[1] ?? ""] ?? [text];
    const { args, env } = server.mcp_config;
    const environment = Object.entries(env).map(([name, value]) => [name, ...fill(value)]);
    return parseArguments(args.flatMap(fill), Object.fromEntries(environment));
  };
  const started = { name: "mcp", readOnly: true };
  expect(start(["/home/me/a b"])).toMatchObject({ ...started, basePath: "/home/me/a b" });
  expect(start(["/a", "/b"])).toMatchObject({ ...started, basePath: undefined, folders: ["/a", "/b"] });
});

test("a bundle is the same when made again", () => {
  const pack = () => packBundle("x86_64-apple-darwin", Buffer.from("x"));
  expect(pack()).toEqual(pack());
});

test("Python, another reader of zip archives, finds the files unchanged, with their modes", () => {
  const folder = mkdtempSync(join(tmpdir(), "coder-zip-"));
  try {
    const contents = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * index) % 251));
    const files = [
      { name: "ä/coder", contents, isExecutable: true },
      { name: "empty", contents: Buffer.alloc(0) },
    ];
    writeFileSync(join(folder, "a.zip"), zipFiles(files));
    const script = `
import os, zipfile
archive = zipfile.ZipFile("a.zip")
assert archive.testzip() is None
for info in archive.infolist():
    os.chmod(archive.extract(info), info.external_attr >> 16)`;
    const { exitCode, stderr } = Bun.spawnSync(["python3", "-c", script], { cwd: folder });
    expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
    for (const { name, contents, isExecutable } of files) {
      expect(readFileSync(join(folder, name)).compare(contents)).toBe(0);
      expect(statSync(join(folder, name)).mode & 0o777).toBe(isExecutable ? 0o755 : 0o644);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
