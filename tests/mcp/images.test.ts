/** Images over MCP: models get an image block, and programs get the text of 0.2.0. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { defaultSubjects } from "../harness/subject.ts";
import { connectStdio, type McpFixture, textOf } from "./client.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");

const png = bytes("\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
const largest = Buffer.concat([bytes("\xff\xd8\xff"), Buffer.alloc((5 * 1024 * 1024 * 3) / 4 - 3)]);
const tree = {
  "a.txt": "one",
  "logo.png": png,
  "no-name": bytes("GIF89a\xff"),
  "b.jpg": largest,
  "c.jpg": Buffer.concat([largest, bytes("x")]),
  "fake.png": "no image\n",
  "photo.webp": bytes("RIFF\xff\0\0\0WEBPVP8 "),
  "page.png": Buffer.concat([png, bytes("\0\0\x04\0\0\0\x1f\x41\x08\x06\0\0\0")]),
  "screen.png": Buffer.concat([png, bytes("\0\0\x04\0\0\0\x1f\x40\x08\x06\0\0\0")]),
};

const image = (data: Buffer, mimeType: string) => ({
  type: "image",
  data: data.toString("base64"),
  mimeType,
});

describe.each(defaultSubjects)("the %s", (subject) => {
  let connected: McpFixture;

  beforeAll(async () => {
    connected = await connectStdio(subject, { tree });
  });

  afterAll(() => connected[Symbol.asyncDispose]());

  const read = (args: Record<string, unknown>) => connected.call("coder_read_file", args);

  test.each([
    ["logo.png", image(png, "image/png")],
    ["no-name", image(tree["no-name"], "image/gif")],
    ["photo.webp", image(tree["photo.webp"], "image/webp")],
    ["b.jpg", image(largest, "image/jpeg")],
  ])("shows %s as an image, whatever its name", async (path, block) => {
    expect((await read({ path })).content as unknown).toEqual([block]);
  });

  test("shows what only has the name of one as the text that it is", async () => {
    expect(textOf(await read({ path: "fake.png" }))).toBe("no image\n");
  });

  test("refuses one that no client could show, and says how large it may be", async () => {
    const refused = await read({ path: "c.jpg" });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toMatch(
      /^C213 too_large: .* hold 5242880; it is an image, which takes 5242884 bytes in base64; /,
    );
    expect(textOf(await read({ path: "logo.png", max_output_bytes: 10 }))).toContain("it is an image");
  });

  test("refuses one with too many pixels on a side, alone or among others", async () => {
    const sentence =
      'C213 too_large: "page.png" is an image of 1024 × 8001 pixels, and clients show at most 8000 on a side; make a smaller one of it and read that, or send stat to see what it is.';
    const refused = await read({ path: "page.png" });
    expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining(sentence)]);
    expect(textOf(await read({ paths: ["page.png", "a.txt"] }))).toContain(sentence);
    expect((await read({ path: "screen.png" })).content as unknown).toEqual([
      image(tree["screen.png"], "image/png"),
    ]);
  });

  test("shows several files in their order", async () => {
    const { content } = await read({ paths: ["a.txt", "logo.png", "fake.png", "none"] });
    expect(content as unknown).toEqual([
      {
        type: "text",
        text: "3 of 4 read; failed: none\n==> a.txt\none\n[no newline at the end]\n==> logo.png\n",
      },
      image(png, "image/png"),
      {
        type: "text",
        text: expect.stringMatching(/^==> fake\.png\nno image\n==> none\nC211 no_such_path: "none"/),
      },
    ]);
  });

  test("adds the revision where it is requested", async () => {
    const { content } = await read({ path: "logo.png", revision: true });
    const revision = expect.stringMatching(/^\[revision sha256:[0-9a-f]{64}\]$/);
    expect(content as unknown).toEqual([image(png, "image/png"), { type: "text", text: revision }]);
  });

  test("reads one as text when `encoding` says so", async () => {
    const { content } = await read({ path: "logo.png", encoding: "text" });
    expect(content).toHaveLength(1);
    expect(content[0]).toMatchObject({ type: "text", text: expect.stringContaining("\ufffdPNG") });
  });

  test.each([{ line_from: 1 }, { tail: 3 }, { numbered: true }])(
    "says what one is where lines of it are requested: %j",
    async (more) => {
      const [field] = Object.keys(more);
      expect(textOf(await read({ path: "logo.png", ...more }))).toBe(
        `[binary: PNG image, 16 bytes; an image has no lines: read it without ${field}]`,
      );
      expect(textOf(await read({ path: "screen.png", ...more }))).toContain(
        "PNG image, 1024 × 8000 pixels, ",
      );
    },
  );

  test("names all fields of lines, and the pixels for stat", async () => {
    expect(textOf(await read({ path: "logo.png", line_from: 1, line_to: 5 }))).toContain(
      "read it without line_from and line_to]",
    );
    expect(textOf(await read({ files: [{ path: "logo.png", line_from: 1, line_to: 5 }] }))).toContain(
      "read it without line_from and line_to]",
    );
    expect(textOf(await read({ path: "screen.png", stat: true }))).toStartWith(
      "[binary: PNG image, 1024 × 8000 pixels, 29 bytes, mode ",
    );
    expect(textOf(await read({ path: "a.txt", stat: true }))).not.toContain("pixels");
  });

  test("reads the bytes of one as text when they are requested", async () => {
    expect(textOf(await read({ path: "logo.png", encoding: "base64" }))).toBe(png.toString("base64"));
  });

  test("answers one as a resource with its bytes", async () => {
    const uri = "coder:///logo.png";
    const { contents } = await connected.client.readResource({ uri });
    expect(contents as unknown).toEqual([{ uri, mimeType: "image/png", blob: png.toString("base64") }]);
  });

  test("says what one is where answers are structured", async () => {
    await using structured = await connectStdio(subject, { tree, args: ["--structured"] });
    const result = await structured.call("coder_read_file", { path: "logo.png" });
    expect(result).toMatchObject({
      content: [{ type: "text", text: expect.stringContaining("[binary: PNG image, 16 bytes;") }],
      structuredContent: { binary: "PNG image", size: 16, is_utf8: false },
    });
    expect(result.structuredContent).not.toHaveProperty("content");
  });
});
