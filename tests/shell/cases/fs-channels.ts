import { expect } from "bun:test";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { answerOf, expectCode } from "../case.ts";
import { callRead, callWrite, openChannel, readChannel, sendAll } from "../channels.ts";
import { type CaseFolder, FsCases, jailed } from "../fixture.ts";

const text = (bytes: string) => Buffer.from(bytes);
const mebibyte = 1024 * 1024;
const bogus = { channel_id: "no-such-channel", access_key: "no-such-key" };

/** Writes bytes, and expects to read the same bytes. */
async function roundTrip(fixture: CaseFolder, name: string, bytes: Buffer): Promise<void> {
  const path = `<base>/${name}`;
  const answer = answerOf(await callWrite(fixture, { path }, bytes));
  expect(answer).toEqual({ bytes_written: bytes.length, path: fixture.at(name) });
  expect((await callRead(fixture, path)).equals(bytes)).toBe(true);
}

/** Expects an empty folder, without temporary files either. */
const expectEmpty = ({ folder }: CaseFolder) => expect(readdirSync(folder)).toEqual([]);

const open = new FsCases()
  .scriptOn(164, "a round trip", {}, async (fixture) => {
    expect(
      answerOf(await callWrite(fixture, { path: "<base>/f", mode: "0600" }, text("round trip 123"))),
    ).toMatchObject({ bytes_written: 14 });
    expect([fixture.text("f"), fixture.mode("f")]).toEqual(["round trip 123", 0o600]);
    const { content, ...rest } = await fixture.answer("read", { path: "<base>/f" });
    expect(rest).toMatchObject({ size: 14, mode: "0600" });
    expect(content).toMatchObject({ direction: "read" });
    expect((await readChannel(fixture.served, content)).bytes.toString()).toBe("round trip 123");
  })
  .scriptOn(
    164,
    "a file in another encoding, as text",
    { wide: Buffer.from("\ufeffдва\r\n", "utf16le"), latin1: Buffer.from("caf\xe9\n", "latin1") },
    async (fixture) => {
      const readAs = async (name: string, encoding?: string) => {
        const { content, ...rest } = await fixture.answer("read", { path: `<base>/${name}`, encoding });
        const { bytes } = await readChannel(fixture.served, content);
        return { text: bytes.toString(), encoding: rest["encoding"], size: rest["size"] };
      };
      expect([
        await readAs("latin1", "latin1"),
        await readAs("wide", "latin1"),
        await readAs("latin1"),
      ]).toEqual([
        { text: "café\n", encoding: "windows-1252", size: 5 },
        { text: "\ufeffдва\r\n", encoding: "UTF-16LE", size: 12 },
        { text: "caf\ufffd\n", encoding: undefined, size: 5 },
      ]);
    },
  )
  .scriptOn(164, "a text, in another encoding", {}, async (fixture) => {
    const write = (name: string, encoding: string, content: Buffer) =>
      callWrite(fixture, { path: `<base>/${name}`, encoding }, content);
    expect(answerOf(await write("latin1", "latin1", text("café\n")))).toMatchObject({ bytes_written: 5 });
    expect(answerOf(await write("wide", "utf-16le", text("два\n")))).toMatchObject({ bytes_written: 10 });
    expect(readFileSync(fixture.at("latin1"), "latin1")).toBe("café\n");
    expect(readFileSync(fixture.at("wide"), "utf16le")).toBe("\ufeffдва\n");
    expectCode(await write("latin1", "latin1", text("Ω")), "S210");
    expectCode(await write("latin1", "latin1", Buffer.of(0xff)), "S210");
    expect(readFileSync(fixture.at("latin1"), "latin1")).toBe("café\n");
  })
  .scriptOn(165, "the usual mode", {}, async (fixture) => {
    await callWrite(fixture, { path: "<base>/f" }, text("x"));
    expect(fixture.mode("f")).toBe(0o644);
  })
  .scriptOn(166, "nothing at all", {}, (fixture) => roundTrip(fixture, "empty", text("")))
  .scriptOn(166, "nothing at all, announced, from a writer that never connects", {}, async (fixture) => {
    const { reader } = await openChannel(fixture.served);
    expect(await fixture.answer("write", { path: "<base>/empty", content: reader, size: 0 })).toEqual({
      bytes_written: 0,
      path: fixture.at("empty"),
    });
    expect(fixture.text("empty")).toBe("");
  })
  .scriptOn(167, "512 KiB", {}, (fixture) => roundTrip(fixture, "large", randomBytes(512 * 1024)))
  .scriptOn(168, "scripts, zeros and a name in Unicode", {}, async (fixture) => {
    await roundTrip(fixture, "日本語-ß-🙂.txt", text("Ελληνικά, हिन्दी, 中文, עברית, 🙂\n"));
    await roundTrip(fixture, "zeros", Buffer.from([0, 1, 0, 255, 0]));
  })
  .refusesOn("169 write", [{}, { path: "relative", content: bogus }], "S210")
  .refusesOn("169 write", [{}, { path: "<base>/f", mode: "8", content: bogus }], "S210")
  .scriptOn(170, "folders on the way", {}, async (fixture) => {
    await fixture.refused("write", { path: "<base>/a/b/f", content: bogus }, "S211");
    expectEmpty(fixture);
    await callWrite(fixture, { path: "<base>/a/b/f", parents: true }, text("x"));
    expect(fixture.text("a/b/f")).toBe("x");
  })
  .refusesOn("171 write", [{}, { path: "<base>/f" }], "S210", "bad write payload")
  .refusesOn("171 write", [{}, { path: "<base>/f", content: "text" }], "S210", "bad write payload")
  .refusesOn("171 write", [{}, { path: "<base>/f", content: 5 }], "S210", "bad write payload")
  .refusesOn(
    "171 write",
    [{}, { path: "<base>/f", content: { channel_id: "c" } }],
    "S210",
    "bad write payload",
  )
  .scriptOn(172, "content without a direction, or with the other one", {}, async (fixture) => {
    for (const direction of [undefined, "write"]) {
      const { reader, writer } = await openChannel(fixture.served);
      const content = { channel_id: reader.channel_id, access_key: reader.access_key, direction };
      const outcome = fixture.call("write", { path: "<base>/f", content });
      sendAll(writer, text("x"));
      expect(answerOf(await outcome)).toMatchObject({ bytes_written: 1 });
    }
  })
  .scriptOn(173, "a channel that there is not, and a wrong key", {}, async (fixture) => {
    const { reader } = await openChannel(fixture.served);
    for (const content of [bogus, { ...reader, access_key: "wrong" }, { ...reader, access_key: "" }])
      await fixture.refused("write", { path: "<base>/f", content }, "S216");
    expectEmpty(fixture);
    expect(await fixture.answer("ls", { path: "<base>" })).toEqual({ entries: [] });
  })
  .scriptOn(173, "a channel that is an address", {}, async (fixture) => {
    const { reader } = await openChannel(fixture.served);
    for (const channel_id of ["../../", "a/b", "", "c?key=k&", "%2e%2e", "x".repeat(65)]) {
      const content = { ...reader, channel_id };
      await fixture.refused("write", { path: "<base>/f", content }, "S210", "bad write payload");
    }
    expectEmpty(fixture);
  })
  .scriptOn(174, "a reference used twice", {}, async (fixture) => {
    const { reader, writer } = await openChannel(fixture.served);
    const first = fixture.call("write", { path: "<base>/f", content: reader });
    sendAll(writer, text("x"));
    expect(answerOf(await first)).toMatchObject({ bytes_written: 1 });
    const { answer, error } = await fixture.call("write", { path: "<base>/g", content: reader });
    if (error === undefined) expect(answer).toMatchObject({ bytes_written: 0 });
    else expectCode({ error }, "S216");
  })
  .scriptOn(175, "a channel that was closed before the call", {}, async (fixture) => {
    const { reader, writer } = await openChannel(fixture.served);
    sendAll(writer, text(""));
    await new Promise((resolve) => writer.stream.once("close", resolve));
    const { answer, error } = await fixture.call("write", { path: "<base>/f", content: reader });
    if (error === undefined) expect(answer).toMatchObject({ bytes_written: 0 });
    else expectCode({ error }, "S216");
  })
  .scriptOn(176, "text messages only", {}, async (fixture) => {
    const { reader, writer } = await openChannel(fixture.served);
    const outcome = fixture.call("write", { path: "<base>/f", content: reader });
    for (const message of ["hello", "5", "null", "[]", '{"progress":1}']) writer.sendMessage(message);
    writer.stream.end();
    expect(answerOf(await outcome)).toMatchObject({ bytes_written: 0 });
  })
  .scriptOn(177, "one byte more than the limit, and not one more", {}, async (fixture) => {
    expectCode(await callWrite(fixture, { path: "<base>/f" }, Buffer.alloc(mebibyte + 1)), "S218");
    expectEmpty(fixture);
    expect(answerOf(await callWrite(fixture, { path: "<base>/f" }, Buffer.alloc(mebibyte)))).toMatchObject({
      bytes_written: mebibyte,
    });
  })
  .scriptOn(179, "two writers of one path", {}, async (fixture) => {
    const bodies = ["a", "b"].map((letter) => Buffer.alloc(300_000, letter));
    for (const outcome of await Promise.all(
      bodies.map((body) => callWrite(fixture, { path: "<base>/f" }, body)),
    ))
      answerOf(outcome);
    expect(bodies.map(String)).toContain(fixture.text("f"));
    expect(readdirSync(fixture.folder)).toEqual(["f"]);
  })
  .refusesOn("180 read", [{}, { path: "<base>/missing" }], "S211")
  .refusesOn("180 read", [{ "d/": null }, { path: "<base>/d" }], "S212")
  .scriptOn(183, "five readers of one file", { f: "x".repeat(65_536) }, async (fixture) => {
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => callRead(fixture, "<base>/f")));
    expect(all.map(String)).toEqual(Array(5).fill("x".repeat(65_536)));
  })
  .scriptOn(184, "nobody takes the bytes", { f: "x".repeat(mebibyte) }, async (fixture) => {
    await fixture.answer("read", { path: "<base>/f" });
    expect(await fixture.answer("stat", { path: "<base>/f" })).toMatchObject({ size: mebibyte });
  });

const small = new FsCases(jailed({ max_read_bytes: 10 }))
  .refusesOn("169 write", [{}, { path: "/etc/coder", content: bogus }], "S215")
  .refusesOn("180 read", [{}, { path: "/etc/hostname" }], "S215")
  .refusesOn("181 read", [{ f: "x".repeat(1024) }, { path: "<base>/f" }], "S218")
  .answersOn("181 read", [{ f: "x".repeat(10) }, { path: "<base>/f" }], { size: 10 });

const patience = 60_000;

const idle = new FsCases().scriptOn(178, "a sender that falls silent", { f: "old" }, async (fixture) => {
  const { reader, writer } = await openChannel(fixture.served);
  // With the default timeout, the caller would give up at the same time as the worker.
  const payload = { path: fixture.at("f"), content: reader };
  const outcome = fixture.served.client
    .trigger({ function_id: "shell::fs::write", payload, timeoutMs: patience })
    .then(
      () => ({}),
      (error) => ({ error }),
    );
  writer.stream.on("error", () => undefined).write(text("new"));
  expectCode(await outcome, "S216", "channel idle");
  expect([fixture.text("f"), readdirSync(fixture.folder)]).toEqual(["old", ["f"]]);
});

const withoutChannels = new FsCases({}, { isWithoutChannels: true })
  .refusesOn("182 read", [{ f: "x" }, { path: "<base>/f" }], "S216", "channel")
  .scriptOn(182, "and again and again, and the worker is none the worse", { f: "x" }, async (fixture) => {
    for (let round = 0; round < 100; round++) await fixture.refused("read", { path: "<base>/f" }, "S216");
    expect(await fixture.answer("stat", { path: "<base>/f" })).toMatchObject({ size: 1 });
  });

export const cases = [...open.all, ...small.all, ...withoutChannels.all, ...idle.slow()];
