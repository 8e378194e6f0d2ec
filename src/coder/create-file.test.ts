/** The form of a file that a creation replaces, kept or lost, in the profile agent. */
import { expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
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

test("a file that has the content and the mode already is left alone, without a checkpoint", async () => {
  const { fixture, bytes, call, text } = openWith("one\n");
  await using _ = fixture;
  const inode = () => statSync(fixture.at("f"), { bigint: true }).ino;
  const before = inode();
  const equal = { path: "f", content: "one\n", overwrite: true };
  const files = [equal, { ...equal, content: "b25lCg==", encoding: "base64" }];
  const said = "f: not written, since it has this content already, 4 bytes";
  expect(await text("coder::create-file", { files })).toBe(`${said}\n${said}`);
  expect(await text("coder::create-file", { files: [equal], dry_run: true })).toStartWith(said);
  const answer = await call("coder::create-file", { files: [equal] });
  expect([answer.checkpoint, answer.results[0].success, answer.results[0].unchanged]).toEqual([
    undefined,
    true,
    true,
  ]);
  const changes = [{ op: "create", ...equal }];
  expect(await text("coder::transact", { changes })).toBe(`${said}\nnothing had to be changed`);
  expect([inode(), (await call("coder::checkpoints")).checkpoints]).toEqual([before, []]);
  await call("coder::create-file", { files: [{ ...equal, mode: "0600" }] });
  expect([inode() === before, statSync(fixture.at("f")).mode & 0o777]).toEqual([false, 0o600]);
  await call("coder::create-file", { files: [{ ...equal, content: "two\n" }] });
  expect(bytes().toString()).toBe("two\n");
  const back = [
    { op: "create", ...equal },
    { op: "create", ...equal },
  ];
  expect(await text("coder::transact", { changes: back })).toStartWith(`f: written, 4 bytes\n${said}\n`);
  expect(bytes().toString()).toBe("one\n");
});

test("an edit that changes nothing says so, and has no checkpoint", async () => {
  const { fixture, call, text } = openWith("one\n");
  await using _ = fixture;
  const ops = [{ op: "update_lines", from_line: 1, to_line: 1, content: "one" }];
  const said = "f: 1 op applied, which changed nothing, 1 line now";
  expect(await text("coder::update-file", { files: [{ path: "f", ops }] })).toBe(`${said}\n1→one`);
  expect(await text("coder::transact", { changes: [{ op: "update", path: "f", ops }] })).toBe(
    `${said}\n1→one\nnothing had to be changed`,
  );
  const same = { query: "(one)", replacement: "$1", regex: true };
  expect(await text("coder::replace", same)).toBe(
    "1 match in 1 file replaced\nf: 1 match, replaced by what was there already\n1→one",
  );
  expect((await call("coder::checkpoints")).checkpoints).toEqual([]);
});

test("in the profile contract an equal content is written", async () => {
  const { fixture, call } = openWith("one\n", { profile: "contract" });
  await using _ = fixture;
  const { ino } = statSync(fixture.at("f"), { bigint: true });
  const { results } = await call("coder::create-file", {
    files: [{ path: "f", content: "one\n", overwrite: true }],
  });
  expect(results).toEqual([{ path: "f", success: true, bytes_written: 4 }]);
  expect(statSync(fixture.at("f"), { bigint: true }).ino).not.toBe(ino);
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
