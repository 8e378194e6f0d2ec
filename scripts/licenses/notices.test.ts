import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cratesIn, noticeOf, packagesOf, renderNotices } from "./notices.ts";

const top = mkdtempSync(join(tmpdir(), "coder-"));
afterAll(() => rmSync(top, { recursive: true }));

/** Writes files into node_modules, and returns the path of the first. */
function install(files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(top, "node_modules", path)), { recursive: true });
    writeFileSync(join(top, "node_modules", path), text);
  }
  return join(top, "node_modules", Object.keys(files)[0]!);
}

const of = (version: string) => JSON.stringify({ version, license: "MIT" });

test("the packages of files, and those that were bundled into them", () => {
  const one = install({
    "@scope/one/dist/a.mjs": "//#region ../node_modules/.pnpm/in@1.0/node_modules/in/x.js\n",
  });
  const other = install({ "other/b.js": "//#region src/own.ts\n" });
  const folders = ["@scope/one", "in", "other"].map((name) => join(top, "node_modules", name));
  expect(packagesOf([one, other, "/elsewhere/src/main.ts"])).toEqual(folders);
});

test("a package without a licence text is an error that names it", () => {
  install({ "bare/package.json": of("1.0.0") });
  const folder = join(top, "node_modules/bare");
  expect(() => noticeOf(folder, {})).toThrow("bare has no licence text");
  const known = { bare: { license: "MIT", copyright: "Copyright (c) Somebody" } };
  expect(noticeOf(folder, known).text).toMatch(/^Copyright \(c\) Somebody\n\nPermission is hereby granted/);
  expect(() => noticeOf(join(top, "node_modules/absent"), {})).toThrow("absent has no licence text");
});

test("a SPDX document comes with the text that it names", () => {
  install({ "spdx/package.json": of("2.0.0"), "spdx/LICENSE.spdx": "SPDXVersion: SPDX-2.3" });
  const { name, text } = noticeOf(join(top, "node_modules/spdx"), {});
  expect(name).toBe("spdx 2.0.0");
  expect(text).toStartWith("SPDXVersion");
  expect(text).toContain("Apache License");
});

test("crates are found by the sources that they name", () => {
  const trace = (crate: string) => `/registry/src/index.crates.io-1949cf8c/${crate}/src/lib.rs`;
  const program = `\0${trace("regex-automata-0.4.16")}\0${trace("memchr-2.7.4")}${trace("memchr-2.7.4")}`;
  expect(cratesIn(program)).toEqual([
    { name: "memchr", version: "2.7.4" },
    { name: "regex-automata", version: "0.4.16" },
  ]);
});

test("a text that several have stands there once, under the names of all", () => {
  const text = "Copyright X\r\n\r\nas is  \n";
  const rendered = renderNotices([
    { name: "a 1", license: "MIT", text },
    { name: "b 2", license: "ISC", text: "other" },
    { name: "c 3", license: "MIT", text: "Copyright X\n\nas is" },
  ]);
  expect(rendered.split("as is")).toHaveLength(2);
  expect(rendered).toContain("a 1 (MIT)\nc 3 (MIT)\n");
});
