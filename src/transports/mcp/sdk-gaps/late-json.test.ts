import { expect, test } from "bun:test";
import { LateJson } from "./late-json.ts";

const text = 'é🙂"\n'.repeat(100_000);
const bytes = Buffer.byteLength(JSON.stringify(text));
const block = (content: string) => ({ type: "text", text: content }) as const;

async function filled(late: LateJson, chunks: readonly string[]): Promise<Buffer[]> {
  const encoded = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk);
  })();
  const parts: Buffer[] = [];
  for await (const part of late.fill(encoded)) parts.push(Buffer.from(part));
  return parts;
}

test("large values of results are written in place of their tokens, in parts", async () => {
  const late = new LateJson();
  const results = [
    { content: [block(text), block("ü")], isError: true },
    { content: [block("[cut]")], structuredContent: { entries: [{ text }] } },
  ];
  const sent = results.map((result) => JSON.stringify(late.withTokens(result, bytes)));
  expect(Math.max(...sent.map(({ length }) => length))).toBeLessThan(300);
  const chunks = [`event: message\ndata: ${sent[0]}\n\n`, "ö", `${sent[1]},${sent[0]}`];
  const parts = await filled(late, chunks);
  const [first, second] = results.map((result) => JSON.stringify(result));
  // A token is replaced once, as it is in one message.
  const whole = `event: message\ndata: ${first}\n\nö${second},${sent[0]}`;
  expect(Buffer.concat(parts).toString() === whole).toBeTrue();
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(600_000);
});

test("a small result, or one with an image, is left to the SDK", () => {
  const late = new LateJson();
  const small = { content: [block("x")] };
  expect(late.withTokens(small, 100)).toBe(small);
  const image = { content: [block(text), { type: "image" as const, data: "", mimeType: "image/png" }] };
  expect(late.withTokens(image, bytes)).toBe(image);
});

test("what looks like a token of another response stays", async () => {
  const other =
    '{"a":"0b6ab1c8-1111-4222-8333-0123456789ab","b":{"late":"0b6ab1c8-1111-4222-8333-0123456789ab"}}';
  const late = new LateJson();
  late.withTokens({ content: [block(text)] }, bytes);
  expect(Buffer.concat(await filled(late, [other])).toString()).toBe(other);
  expect(Buffer.concat(await filled(new LateJson(), [other])).toString()).toBe(other);
});
