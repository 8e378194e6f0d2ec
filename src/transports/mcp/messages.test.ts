import { describe, expect, test } from "bun:test";
import { maxCopied, readMessage } from "./messages.ts";

const many = Array.from({ length: maxCopied }, (_, index) => index);
const keys = Object.fromEntries(many.map((index) => [`k${index}`, 0]));
const nested = { a: { b: many.map(() => []) } };

const request = (method: string, params: object) => ({ jsonrpc: "2.0", id: 7, method, params });

describe("a message with more keys and items than the SDK can copy in one turn", () => {
  test.each<[string, object]>([
    ["in _meta", request("tools/call", { name: "x", arguments: {}, _meta: keys })],
    ["in params", request("tools/call", { name: "x", ...keys })],
    ["as names of arguments", request("tools/call", { name: "x", arguments: keys })],
    ["in capabilities", request("initialize", { capabilities: { experimental: nested } })],
    ["in the arguments of no tool", request("prompts/get", { name: "x", arguments: nested })],
  ])("is refused with its id if they are %s", (_, message) => {
    expect(readMessage(message)).toEqual({
      isAwaited: true,
      refusal: {
        jsonrpc: "2.0",
        id: 7,
        error: { code: -32600, message: expect.stringContaining(`at most ${maxCopied} keys and items`) },
      },
    });
  });

  test.each<[string, object]>([
    ["a notification", { jsonrpc: "2.0", method: "notifications/cancelled", params: { _meta: keys } }],
    ["a result", { jsonrpc: "2.0", id: 7, result: keys }],
    ["an error", { jsonrpc: "2.0", id: 7, error: { code: 1, message: "x", data: nested } }],
  ])("is dropped if it is %s", (_, message) => {
    expect(readMessage(message)).toMatchObject({ isAwaited: false });
  });

  test.each<[string, object]>([
    ["in values of arguments", request("tools/call", { name: "x", arguments: nested })],
    ["in fields that are dropped", { ...request("ping", {}), keys }],
  ])("is read if they are %s", (_, message) => {
    expect(readMessage(message)).toMatchObject({ message: { id: 7 } });
  });
});
