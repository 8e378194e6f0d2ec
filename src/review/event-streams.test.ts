import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import type { ReportedChange } from "../calls/contract/tree-changes.ts";
import { EventStreams } from "./event-streams.ts";

test("a page that gets very many changes reads everything again, and their paths are not collected", async () => {
  let report: (change: ReportedChange) => void = () => {};
  const tree = {
    begin: () => "0:0",
    open(reader: typeof report) {
      report = reader;
      return () => {};
    },
    watch: async () => 0,
  };
  const { promise, resolve } = Promise.withResolvers<string>();
  const outgoing = Object.assign(new EventEmitter(), {
    writeHead() {},
    write: (text: string) => text.startsWith("event: changed") && resolve(text),
    end: () => outgoing.emit("close"),
  });
  const streams = new EventStreams(
    () => tree,
    () => undefined,
  );
  streams.open(outgoing as unknown as ServerResponse, {});
  let looks = 0;
  for (let seq = 1; seq <= 1000; seq++)
    report({
      ...{ seq, kind: "created", isFolder: false },
      get path() {
        looks++;
        return String(seq);
      },
    });
  expect(await promise).toBe("event: changed\ndata: {}\n\n");
  expect(looks).toBe(201);
  streams.close();
});
