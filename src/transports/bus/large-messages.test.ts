import { expect, test } from "bun:test";
import { maxDepth, maxKeys, maxNumberLength } from "../../base/scheduling/parse-json.ts";
import { UnreadPayload } from "../../calls/contract/unread-payload.ts";
import { type EngineMessage, LargeMessages } from "./large-messages.ts";

const id = "0b7bb3a8-2f6f-4d6e-9a55-0d8a1f9f2d11";
const call = (data: string) =>
  `{"type":"invokefunction","invocation_id":"${id}","function_id":"coder::read-file","data":${data}}`;

/** Returns the frames that are passed on for these messages. */
async function framesOf(messages: readonly (string | Buffer)[], maxTokens = 1e9): Promise<EngineMessage[]> {
  const frames: EngineMessage[] = [];
  const large = new LargeMessages(
    () => maxTokens,
    (frame) => frames.push(frame),
  );
  for (const message of messages) large.receive(message);
  await large.settled();
  return frames;
}

const refusalIn = ({ data }: EngineMessage): string => (data as UnreadPayload).refusal.message;

test("a message is passed on as JSON.parse returns it", async () => {
  const text = call(JSON.stringify({ text: "é\n".repeat(300_000) }));
  expect(await framesOf([text, Buffer.from(text)])).toEqual([JSON.parse(text), JSON.parse(text)]);
  expect(await framesOf(["not JSON"])).toEqual([]);
});

test("a call with too many values is refused unread", async () => {
  const [frame] = await framesOf([call(`[${"[],".repeat(1000)}1]`)], 2000);
  expect(frame?.["data"]).toBeInstanceOf(UnreadPayload);
  expect(frame).toMatchObject({
    type: "invokefunction",
    invocation_id: id,
    function_id: "coder::read-file",
  });
  expect(refusalIn(frame!)).toContain("at most 2000 values, keys and punctuation marks");
});

test("a call, or a result, with too many keys in one object is refused unread", async () => {
  const keys = JSON.stringify(
    Object.fromEntries(Array.from({ length: maxKeys + 1 }, (_, i) => [`k${i}`, 0])),
  );
  const result = `{"type":"invocationresult","invocation_id":"${id}","function_id":"f","result":${keys}}`;
  const frames = await framesOf([call(`[${keys}]`), result]);
  const failed = frames.find(({ type }) => type === "invocationresult");
  const refused = frames.find(({ type }) => type === "invokefunction");
  expect(refusalIn(refused!)).toContain(`at most ${maxKeys} fields`);
  expect(failed).toMatchObject({
    type: "invocationresult",
    invocation_id: id,
    error: { message: expect.stringContaining("100000") },
  });
  expect(failed).not.toHaveProperty("result");
});

test.each([
  ["[".repeat(100_000), `more than ${maxDepth} levels`],
  [`[${"1".repeat(100_000)}]`, `more than ${maxNumberLength} characters`],
])("a call with nesting or a number that no field needs is refused unread", async (data, sentence) => {
  const [frame] = await framesOf([call(data)]);
  expect(frame?.["data"]).toBeInstanceOf(UnreadPayload);
  expect(refusalIn(frame!)).toContain(sentence);
});

test("a call for which 256 MiB leave no room is refused unread", async () => {
  // It ends at its first character, and takes no time.
  const message = Buffer.from(call("]").padEnd(16 * 1024 * 1024));
  const frames = await framesOf(Array.from({ length: 17 }, () => message));
  expect(frames.map(refusalIn)).toEqual([expect.stringContaining("268435456 bytes together")]);
  expect(await framesOf([call("[]").padEnd(600_000)])).toHaveLength(1);
});

test("a call without an id is refused too, and only calls have a limit of values", async () => {
  const many = `[${"[],".repeat(1000)}1]`;
  const [refused] = await framesOf([`{"type":"invokefunction","function_id":"f","data":${many}}`], 2000);
  expect(refused).toMatchObject({ type: "invokefunction", function_id: "f", invocation_id: undefined });
  expect(refused?.["data"]).toBeInstanceOf(UnreadPayload);
  const result = `{"type":"invocationresult","invocation_id":"${id}","function_id":"f","result":${many}}`;
  const trigger = `{"type":"registertrigger","id":"t","config":${many}}`;
  for (const text of [result, trigger]) expect(await framesOf([text], 2000)).toEqual([JSON.parse(text)]);
});
