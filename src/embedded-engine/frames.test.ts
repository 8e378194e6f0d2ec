import { describe, expect, test } from "bun:test";
import { array, assert, constantFrom, dictionary, json, property, record, string, uuid } from "fast-check";
import {
  type Frame,
  type Json,
  parseFrame,
  parseLargeFrame,
  renderFrame,
  sortFrameKeys,
  WrittenJson,
} from "./frames.ts";

const id = "0b7bb3a8-2f6f-4d6e-9a55-0d8a1f9f2d11";

function nested(levels: number): string {
  return "[".repeat(levels) + "]".repeat(levels);
}

function invoke(data: string): string {
  return `{"type":"invokefunction","invocation_id":"${id}","function_id":"f","data":${data}}`;
}

function titled<Expected>([text, expected]: [string, Expected]): [string, string, Expected] {
  return [text.slice(0, 140) || "(nothing)", text, expected];
}

describe("a frame is dropped whole", () => {
  const cases: [text: string, fault: string][] = [
    ["", "not JSON"],
    ["{", "not JSON"],
    ["[]", "not an object"],
    ["null", "not an object"],
    ["{}", "unknown type"],
    [`{"type":7}`, "unknown type"],
    [`{"type":["ping"]}`, "unknown type"],
    [`{"type":"unregisterfunction","id":["f"]}`, "unregisterfunction with a malformed id"],
    [`{"type":"constructor"}`, "unknown type"],
    [`{"type":"registerservice","id":"s"}`, "unknown type"],
    [invoke(nested(127)), "nested deeper than 127 levels"],
    [`{"type":"ping","unknown":${nested(200_000)}}`, "nested deeper than 127 levels"],
    [invoke(`"\\ud83d"`), "an unpaired surrogate"],
    [invoke(`{"a\\udc00":1}`), "an unpaired surrogate"],
    [invoke("1e400"), "a number out of range"],
    [`{"type":"invokefunction","function_id":"f"}`, "invokefunction without data"],
    [`{"type":"invokefunction","data":{}}`, "invokefunction without function_id"],
    [`{"type":"invokefunction","function_id":null,"data":{}}`, "invokefunction with a malformed function_id"],
    [
      `{"type":"invokefunction","invocation_id":"7","function_id":"f","data":{}}`,
      "invokefunction with a malformed invocation_id",
    ],
    [
      `{"type":"invokefunction","function_id":"f","data":{},"action":{"type":"later"}}`,
      "invokefunction with a malformed action",
    ],
    [`{"type":"ping","type":"ping"}`, "a key twice"],
    [`{"type":"ping","a":{"b":["\\\\"]},"c":"\\",","\\u0061":{}}`, "a key twice"],
    [`{"type":"invocationresult","function_id":"f"}`, "invocationresult without invocation_id"],
    [
      `{"type":"invocationresult","invocation_id":"${id}","function_id":"f","error":{"code":"C"}}`,
      "invocationresult with a malformed error",
    ],
    [
      `{"type":"invocationresult","invocation_id":"${id}","function_id":"f","error":{"message":"m"}}`,
      "invocationresult with a malformed error",
    ],
    [`{"type":"registertriggertype","id":"t"}`, "registertriggertype without description"],
    [`{"type":"registerfunction","id":"f","description":7}`, "registerfunction with a malformed description"],
  ];
  test.each(cases.map(titled))("%s", async (_title, text, fault) => {
    expect(parseFrame(text)).toEqual({ fault });
    expect(await parseLargeFrame(text)).toEqual({ fault });
  });
});

describe("a frame is taken", () => {
  const cases: [text: string, frame: Frame][] = [
    [invoke("null"), { type: "invokefunction", invocation_id: id, function_id: "f", data: null }],
    [
      `{"type":"invokefunction","invocation_id":null,"function_id":"f","data":[],"action":null,"metadata":null,"x":1}`,
      { type: "invokefunction", function_id: "f", data: [] },
    ],
    [
      `{"type":"invokefunction","function_id":"f","data":1,"action":{"type":"enqueue","queue":"q"}}`,
      { type: "invokefunction", function_id: "f", data: 1, action: { type: "enqueue", queue: "q" } },
    ],
    [
      `{"type":"invocationresult","invocation_id":"${id}","function_id":"f","result":null}`,
      { type: "invocationresult", invocation_id: id, function_id: "f" },
    ],
    [
      `{"type":"invocationresult","invocation_id":"${id}","function_id":"f","error":{"message":"m","x":1,"code":"C"}}`,
      { type: "invocationresult", invocation_id: id, function_id: "f", error: { code: "C", message: "m" } },
    ],
    [`{"type":"ping"}`, { type: "ping" }],
    [`{"a":{"type":1,"b":[{"a":","},"a"]},"b":"\\"b\\":","type":"ping"}`, { type: "ping" }],
  ];
  test.each(cases.map(titled))("%s", async (_title, text, frame) => {
    expect(await parseLargeFrame(text)).toEqual({ frame });
    expect(parseFrame(text)).toEqual({ frame });
  });

  test.each([id.toUpperCase(), id.replaceAll("-", ""), `{${id}}`, `urn:uuid:${id}`])(
    "with an id in the form %s",
    (given) => {
      const text = `{"type":"invokefunction","invocation_id":"${given}","function_id":"f","data":1}`;
      expect(parseFrame(text).frame).toMatchObject({ invocation_id: id });
    },
  );

  test("with 127 levels of nesting, the frame being the first", () => {
    expect(parseFrame(invoke(nested(126))).fault).toBeUndefined();
  });

  test("with a surrogate pair, written as escapes", () => {
    expect(parseFrame(invoke(`"\\ud83d\\ude00"`)).frame).toMatchObject({ data: "😀" });
  });
});

describe("rendering", () => {
  test("keeps the order of a frame's fields and sorts the keys of its values", () => {
    const { frame } = parseFrame(
      `{"data":{"b":1,"a":{"d":1,"c":[{"f":1,"e":2}],"__proto__":3}},"function_id":"f","type":"invokefunction"}`,
    );
    expect(renderFrame(frame!)).toBe(
      `{"type":"invokefunction","function_id":"f","data":{"a":{"__proto__":3,"c":[{"e":2,"f":1}],"d":1},"b":1}}`,
    );
  });

  test("leaves out what is undefined and keeps what is null", () => {
    const frame: Frame = { type: "invokefunction", function_id: "f", data: null, metadata: undefined };
    expect(renderFrame(frame)).toBe(`{"type":"invokefunction","function_id":"f","data":null}`);
  });

  test("changes nothing but the order", () => {
    const anyJson = json({ maxDepth: 5 }).map((text) => JSON.parse(text) as Json);
    assert(
      property(anyJson, (value) => {
        expect(sortFrameKeys(value)).toEqual(value);
      }),
    );
  });

  test("of a frame is taken as that frame", () => {
    const text = string({ unit: "binary" });
    const results = record({
      type: constantFrom("invocationresult" as const),
      invocation_id: uuid(),
      function_id: text,
      result: dictionary(text, array(text)),
    });
    assert(property(results, (frame) => expect(parseFrame(renderFrame(frame))).toEqual({ frame })));
  });
});

describe("a large payload", () => {
  const head = `"type":"invocationresult","invocation_id":"${id}","function_id":"f"`;
  const large = `{ "b": 1.0, "a": ["${"x".repeat(5000)}"] }`;

  test.each([
    ["last", `{${head},"result":${large}}`],
    ["first", `{"result":${large},${head}}`],
    ["after an object", `{"x":{"result":{}},${head},"result":${large}}`],
  ])("is forwarded as it is written, also %s in its frame", (_, text) => {
    const { frame } = parseFrame(text);
    expect(frame).toMatchObject({ result: new WrittenJson(large) });
    expect(renderFrame(frame!)).toBe(`{${head},"result":${large}}`);
  });

  test("may be that of a call", () => {
    const text = `{"type":"invokefunction","function_id":"f","data":${large},"metadata":${large}}`;
    expect(renderFrame(parseFrame(text).frame!)).toBe(text);
  });

  test.each([
    ["a key twice", `{${head},"result":${large},"result":1}`],
    ["not JSON", `{${head},"result":${large}x}`],
    ["an unpaired surrogate", `{${head},"result":${large},"x":"\\ud83d"}`],
    [
      "invocationresult without function_id",
      `{"type":"invocationresult","invocation_id":"${id}","result":${large}}`,
    ],
    ["nested deeper than 127 levels", `{${head},"result":{"a":${large},"b":${nested(126)}}}`],
  ])("does not hide %s", (fault, text) => {
    expect(parseFrame(text)).toEqual({ fault });
  });

  test("is none in a field of another frame", () => {
    const text = `{"type":"registerfunction","id":"f","request_format":${large}}`;
    expect(parseFrame(text).frame).toMatchObject({ request_format: JSON.parse(large) });
  });
});

test("an error of more than 1 MiB is replaced, so that the call ends", () => {
  const error = (message: string) =>
    parseFrame(
      `{"type":"invocationresult","invocation_id":"${id}","function_id":"f","error":{"code":"C","message":"${message}"}}`,
    ).frame;
  expect(error("x".repeat(1_000_000))).toMatchObject({ error: { code: "C" } });
  expect(error("x".repeat(1_100_000))).toMatchObject({
    error: { code: "invocation_error", message: "the error is too long" },
  });
});
