/** The form of a file that a creation replaces, kept or lost, in the profile agent. */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import type { Config } from "./config.ts";
import { SessionsFixture } from "./sessions.test-kit.ts";

function openWith(content: string | Buffer, config: Partial<Config> = {}) {
  const fixture = new SessionsFixture(config);
  writeFileSync(fixture.at("f"), content);
  const calls = fixture.open();
  const write = (fields: object) => {
    const spec = { path: "f", overwrite: true, ...fields };
    return calls.text("coder::create-file", { files: [spec] }).then((text) => text.split("\n").slice(1, -1));
  };
  const bytes = () => readFileSync(fixture.at("f"));
  return { fixture, write, bytes, ...calls };
}

test("a byte order mark is kept, unless an encoding is sent, and other line ends are named", async () => {
  const { fixture, write, bytes } = openWith("\ufeffone\r\ntwo\r\n");
  await using _ = fixture;
  expect(await write({ content: "1\n2\n" })).toEqual(["[BOM kept]", "[line ends are LF now, and were CRLF]"]);
  expect(bytes().toString()).toBe("\ufeff1\n2\n");
  expect(await write({ content: "\ufeff1\n2\n" })).toEqual([]);
  expect(await write({ content: "1\n2\n", encoding: "utf-8" })).toEqual(["[the byte order mark is gone]"]);
  expect(bytes().toString()).toBe("1\n2\n");
  expect(await write({ content: "1\n2\n" })).toEqual([]);
  expect(await write({ content: "1\r\n2\n" })).toEqual(["[line ends are mixed now, and were LF]"]);
});

test("UTF-8 that replaces another encoding is named", async () => {
  const { fixture, write, bytes } = openWith(Buffer.from("Größe\n", "latin1"));
  await using _ = fixture;
  expect(await write({ content: "Größe\n", encoding: "windows-1252" })).toEqual([]);
  expect(bytes().toString("latin1")).toBe("Größe\n");
  expect(await write({ content: "Groesse\n" })).toEqual([]);
  writeFileSync(fixture.at("f"), Buffer.from("Größe\n", "latin1"));
  expect(await write({ content: "Größe\n" })).toEqual([
    '[UTF-8 now, which it was not before; "encoding": "shift_jis", "gb18030", "big5", "euc-kr" or "windows-1252" would keep it]',
  ]);
  expect(bytes().toString()).toBe("Größe\n");
});

test("an encoding of the configuration is known, and a byte order mark decides before it", async () => {
  const encodings = [{ glob: "f", encoding: "windows-1252" }];
  const { fixture, write, bytes } = openWith(Buffer.from("Größe\n", "latin1"), { encodings });
  await using _ = fixture;
  expect(await write({ content: "Größe!\n" })).toEqual([]);
  expect(bytes().toString("latin1")).toBe("Größe!\n");
  writeFileSync(fixture.at("f"), "\ufeffGröße\n");
  expect(await write({ content: "Größe!\n" })).toEqual(["[BOM kept]"]);
  expect(bytes().toString()).toBe("\ufeffGröße!\n");
});

test("a transaction says the same", async () => {
  const { fixture, text, bytes } = openWith("\ufeffone\r\n");
  await using _ = fixture;
  const change = { op: "create", path: "f", content: "1\n", overwrite: true };
  expect(await text("coder::transact", { changes: [change] })).toContain(
    "\n[BOM kept]\n[line ends are LF now, and were CRLF]\n",
  );
  expect(bytes().toString()).toBe("\ufeff1\n");
});
