import { expect, test } from "bun:test";
import { createLog } from "../../base/log/log.ts";
import { RefusalLog } from "./refusal-log.ts";

test("a flood of refused requests is one line a second, with their number", () => {
  const lines: object[] = [];
  const log = createLog({ level: "info", form: "json", write: (line) => lines.push(JSON.parse(line)) });
  let now = 5000;
  const refusals = new RefusalLog(log, "request refused", () => now);
  const peer = "192.0.2.7";
  for (let request = 0; request < 100; request++)
    refusals.add({ peer, status: 401, reason: "Send the token." });
  now += 1000;
  refusals.add({ peer, status: 404, reason: "Nothing." });
  refusals.add({ peer, status: 404, reason: "Nothing." });
  const line = { message: "request refused", level: "warn", peer };
  expect(lines).toMatchObject([
    { ...line, status: 401, reason: "Send the token." },
    { ...line, status: 404, more: 99 },
  ]);
  expect(lines[0]).not.toHaveProperty("more");
});

test("those that are left over have a line when the server closes", () => {
  const lines: object[] = [];
  const log = createLog({ level: "info", form: "json", write: (line) => lines.push(JSON.parse(line)) });
  const refusals = new RefusalLog(log, "request refused", () => 5000);
  for (let request = 1; request <= 8; request++)
    refusals.add({ peer: "192.0.2.7", status: 401, reason: `Refusal ${request}.` });
  expect(lines).toHaveLength(1);
  refusals.flush();
  refusals.flush();
  expect(lines).toMatchObject([{ reason: "Refusal 1." }, { reason: "Refusal 8.", more: 6 }]);
  expect(lines).toHaveLength(2);
});
