import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import type { FunctionDefinition } from "../../calls/contract/definition.ts";
import { renderFailure, renderResult } from "./results.ts";

const request = Type.Object({ dry_run: Type.Boolean({ default: false }) });
const repeating = {
  request,
  render: ({ text }: { text: string }) => text,
} as unknown as FunctionDefinition;
const textOf = ({ content: [block] }: Awaited<ReturnType<typeof renderResult>>) =>
  block?.type === "text" ? block.text : undefined;
const shown = async (text: string, shownBytes: number, isStructured = false) =>
  textOf(
    await renderResult(
      { definition: repeating, payload: {}, answer: { text } },
      { isStructured, shownBytes },
    ),
  );

test("a text is whole as long as it fits, escaped", async () => {
  expect(await shown("x".repeat(98), 100)).toBe("x".repeat(98));
  expect(await shown("\u0001".repeat(16), 100)).toBe("\u0001".repeat(16));
});

test("of a text that does not fit there is the beginning, and what to do", async () => {
  expect(await shown("x".repeat(120), 100)).toBe(
    `${"x".repeat(60)}\n[cut: 60 of 120 characters, as many as one message carries; ask for less at once]`,
  );
  expect(await shown("\u{1F600}".repeat(45), 100)).toMatch(/^(\u{1F600})*\ufffd\n\[cut: 45 of 90 /u);
});

test("beside an answer in JSON the text is never longer than a model takes in", async () => {
  const long = "x".repeat(1024 * 1024 + 1);
  expect(await shown(long, Number.POSITIVE_INFINITY)).toBe(long);
  expect(await shown(long, Number.POSITIVE_INFINITY, true)).toEndWith("structuredContent has them all]");
});

test("an answer without a text is its JSON", async () => {
  const call = { definition: {} as FunctionDefinition, payload: {}, answer: { a: 1 } };
  const result = await renderResult(call, { isStructured: true, shownBytes: 100 });
  expect(result).toEqual({ content: [{ type: "text", text: '{"a":1}' }], structuredContent: { a: 1 } });
});

test("the answer to a dry run says that it was one", async () => {
  const shownFor = async (payload: object) =>
    textOf(
      await renderResult(
        { definition: repeating, payload, answer: { text: "t" } },
        { isStructured: false, shownBytes: 100 },
      ),
    );
  expect(await shownFor({ dry_run: true })).toBe("t\n[dry run: nothing was changed]");
  expect(await shownFor({ dry_run: false })).toBe("t");
});

test("images are blocks between those of text", async () => {
  const pictures = {
    request,
    render: () => ["one", { data: "AA==", mediaType: "image/png" }, "two"],
  } as unknown as FunctionDefinition;
  const call = { definition: pictures, payload: {}, answer: {} };
  expect(await renderResult(call, { isStructured: false, shownBytes: 100 })).toEqual({
    content: [
      { type: "text", text: "one" },
      { type: "image", data: "AA==", mimeType: "image/png" },
      { type: "text", text: "two" },
    ],
  });
});

test("an answer with an entry that failed is an error", async () => {
  const answer = { text: "t", results: [{ success: true }, { success: false }] };
  const call = { definition: repeating, payload: {}, answer };
  expect(await renderResult(call, { isStructured: false, shownBytes: 100 })).toEqual({
    content: [{ type: "text", text: "t" }],
    isError: true,
  });
});

test("many failed entries are written in parts, with the names that clients have", async () => {
  const entryOf = (index: number, name: string) => ({
    path: `${index}`,
    success: index % 2 === 0,
    error: `Send ${name}.`,
  });
  const answerFor = (name: string) => ({
    results: Array.from({ length: 250 }, (_, index) => entryOf(index, name)),
    error: `Send ${name}.`,
    left_out: undefined,
    total: 250,
  });
  const call = { definition: {} as FunctionDefinition, payload: {}, answer: answerFor("coder::tree") };
  const result = await renderResult(call, { isStructured: false, shownBytes: 1_000_000 });
  expect(textOf(result)).toBe(JSON.stringify(answerFor("coder_tree")));
});

test("an answer whose entries do not say whether they succeeded is no error", async () => {
  const call = { definition: repeating, payload: {}, answer: { text: "t", results: [{ op: "create" }] } };
  expect(await renderResult(call, { isStructured: false, shownBytes: 100 })).toEqual({
    content: [{ type: "text", text: "t" }],
  });
});

test("an error is text, and as on the bus where answers are", async () => {
  const error = '{"code":"C211","message":"Send coder::tree.","reason":"no_such_path"}';
  expect(renderFailure(error, { isStructured: false })).toEqual({
    content: [{ type: "text", text: "C211 no_such_path: Send coder_tree." }],
    isError: true,
  });
  expect(renderFailure(error, { isStructured: true })).toMatchObject({ content: [{ text: error }] });
});
