import { expect, test } from "bun:test";
import { PacedStream } from "./paced-stream.ts";

/** Returns a stream, and functions to write to it. */
function written() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given;
    },
    cancel: () => {
      isCancelled = true;
    },
  });
  const write = (text: string) => controller?.enqueue(Buffer.from(text));
  return { body, write, end: () => controller?.close(), isCancelled: () => isCancelled };
}

const isPending = async (promise: Promise<void>) =>
  (await Promise.race([promise.then(() => "ready"), new Promise((resolve) => setImmediate(resolve))])) !==
  "ready";

test("a writer is ready when the reader waits for more", async () => {
  const paced = new PacedStream();
  expect(await isPending(paced.ready())).toBe(true);
  const { body, write, end } = written();
  const response = paced.through(new Response(body, { status: 201, headers: { "x-a": "b" } }));
  expect([response.status, response.headers.get("x-a")]).toEqual([201, "b"]);
  const reader = response.body!.getReader();
  expect(await isPending(paced.ready())).toBe(true);
  const first = reader.read();
  await paced.ready();
  write("one");
  expect(Buffer.from((await first).value!).toString()).toBe("one");
  expect(await isPending(paced.ready())).toBe(true);
  const last = reader.read();
  await paced.ready();
  end();
  expect((await last).done).toBe(true);
  expect(await isPending(paced.ready())).toBe(true);
});

test("a reader that leaves ends the stream, and the writer waits for another", async () => {
  const paced = new PacedStream();
  const { body, isCancelled } = written();
  const reader = paced.through(new Response(body)).body!.getReader();
  void reader.read().catch(() => {});
  await paced.ready();
  await reader.cancel();
  expect(isCancelled()).toBe(true);
  const ready = paced.ready();
  expect(await isPending(ready)).toBe(true);
  void paced.through(new Response(written().body)).body!.getReader().read();
  await ready;
});
