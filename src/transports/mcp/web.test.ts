import { expect, test } from "bun:test";
import { once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { LateJson } from "./sdk-gaps/late-json.ts";
import { sendResponse } from "./web.ts";

test("a stream is open for its client before there is anything in it", async () => {
  const headers = { "content-type": "text/event-stream" };
  const server = createServer(
    (_, outgoing) =>
      void sendResponse(new Response(new ReadableStream(), { headers }), outgoing, new LateJson()),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const asking = get({ host: "127.0.0.1", port, agent: false });
  try {
    const [response] = await once(asking, "response");
    expect(response.headers).toMatchObject(headers);
  } finally {
    asking.on("error", () => {}).destroy();
    server.close();
  }
});
