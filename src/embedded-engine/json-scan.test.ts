import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../base/scheduling/time-slice.ts";
import { type Scanned, scanInSteps } from "./json-scan.ts";

const scan = (json: string): Scanned => runAtOnce(scanInSteps(json));

/** Returns why a text is refused, by `JSON.parse` and a walk over its values. */
function faultIn(json: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return "not JSON";
  }
  const fault = faultOf(value, 1);
  if (fault !== undefined) return fault;
  return typeof value === "object" && value !== null && !Array.isArray(value) ? undefined : "not an object";
}

function faultOf(value: unknown, depth: number): string | undefined {
  if (typeof value === "string") return value.isWellFormed() ? undefined : "an unpaired surrogate";
  if (typeof value === "number") return Number.isFinite(value) ? undefined : "a number out of range";
  if (typeof value !== "object" || value === null) return undefined;
  if (depth > 127) return "nested deeper than 127 levels";
  const inside = Array.isArray(value) ? value : Object.entries(value).flat();
  return inside.map((one) => faultOf(one, depth + 1)).find((fault) => fault !== undefined);
}

/** Expects a fault if the reference has one, and otherwise the values of `JSON.parse`. */
function expectSame(json: string): void {
  const { members, fault } = scan(json);
  const expected = faultIn(json);
  if (fault === "a key twice") return;
  expect(fault === undefined).toBe(expected === undefined);
  if (members === undefined) return;
  const values = [...members].map(([name, { from, to }]) => [name, JSON.parse(json.slice(from, to))]);
  expect(Object.fromEntries(values)).toEqual(JSON.parse(json));
}

describe("a value", () => {
  test.each([
    ...["{}", "[]", '""', "0", "-0", "-1", "1.5", "1e3", "1E-3", "0.1e+2", "true", "false", "null"],
    ...["12345678901234567890", "1e308", '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"', '"é😀\u2028\u007f"'],
    ...['"\\ud83d\\ude00"', "[1, 2 ,[ ] ]\t", ' { "a" : {"b":[{}]} }\r\n', '{"a":1,"a":2}', '{"":1}'],
  ])("%s is accepted", (value) => {
    const json = `{"value":${value}}`;
    const { members } = scan(json);
    const { from, to } = members!.get("value")!;
    expect(json.slice(from, to)).toBe(value.trim());
    expectSame(json);
  });

  test.each([
    ...["[1,]", "[,1]", '{"a":1,}', "{,}", '{"a"}', '{"a":}', "{1:2}", "[1", '{"a":1', "[1}", '{"a":1]'],
    ...[
      "00",
      "01",
      "-",
      "+1",
      "1.",
      ".5",
      "1e",
      "NaN",
      "tru",
      "nul",
      "fals",
      "undefined",
      "",
      "1 2",
      "[1 2]",
    ],
    ...['"\\x"', '"\n"', '"\u0000"', '"', '"\\"', '"\\', '"\\u12"', '"\\u12g4"', "'a'", '{"a":1 "b":2}'],
  ])("%s is not JSON", (value) => {
    expect(scan(`{"value":${value}}`)).toEqual({ fault: "not JSON" });
    expect(scan(`{"value":${value}`)).toEqual({ fault: "not JSON" });
  });

  test.each(['"\\ud83d"', '"\\ude00"', '"\\ud83dx"', '"\\ud83d\\u0041"', '"\\ud83d\\ud83d\\ude00"'])(
    "%s has an unpaired surrogate",
    (value) => {
      expect(scan(`{"value":${value}}`)).toEqual({ fault: "an unpaired surrogate" });
    },
  );

  test.each(["1e309", "-1e999", `1${"0".repeat(400)}`, "0".padEnd(5000, "."), `0.${"1".repeat(5000)}`])(
    "%s is out of range",
    (value) => {
      expect(scan(`{"value":${value}}`).fault).toMatch(/out of range|not JSON/);
    },
  );
});

test("what is no object is refused", () => {
  for (const json of ["[]", '"a"', " 1 ", "null", '[{"a":1}]'])
    expect(scan(json)).toEqual({ fault: "not an object" });
});

test("a name of the outermost object may not be there twice, however it is written", () => {
  for (const json of ['{"a":1,"a":2}', '{"a":{"b":["\\\\"]},"c":"\\",","\\u0061":{}}'])
    expect(scan(json)).toEqual({ fault: "a key twice" });
});

test("1,000 members are the maximum, and objects inside have any number", () => {
  const fields = (count: number) => Array.from({ length: count }, (_, index) => `"k${index}":{}`).join();
  expect(scan(`{${fields(1000)}}`).members).toHaveProperty("size", 1000);
  expect(scan(`{${fields(1001)}}`)).toEqual({ fault: "more than 1000 fields" });
  expect(scan(`{"a":{${fields(10_000)}}}`).fault).toBeUndefined();
});

test("127 levels are the maximum", () => {
  const nested = (levels: number) => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  expect(scan(nested(126)).fault).toBeUndefined();
  expect(scan(nested(127)).fault).toBe("nested deeper than 127 levels");
  expect(scan(nested(1_000_000)).fault).toBe("nested deeper than 127 levels");
});

test("JSON is accepted if JSON.parse accepts it", () => {
  const part = fc.constantFrom(
    ...'[]{},:"\\ud8e0 \n-.1+tfn'.split(""),
    ...["true", "null", '"a"', '"b":', "1e5", "\\ud83d", "\\ude00", "\u0000", "é"],
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      expectSame(parts.join(""));
      expectSame(`{"x":${parts.join("")}}`);
    }),
    { numRuns: 5000 },
  );
});

test("a large text is scanned in steps, wherever they end", () => {
  const text = fc.constantFrom("x", "é", '"', "\\", "\n", "😀", "\u0001");
  const long = fc
    .tuple(fc.array(text, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 200_000 }), fc.nat(12))
    .map(
      ([units, length, shift]) => " ".repeat(shift) + units.join("").repeat(Math.ceil(length / units.length)),
    );
  const value = fc.dictionary(fc.string(), fc.oneof(long, fc.jsonValue(), fc.array(long, { maxLength: 3 })));
  fc.assert(
    fc.property(value, fc.boolean(), (given, escapes) => {
      const json = JSON.stringify(given);
      const written = escapes
        ? json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
        : json;
      expectSame(written);
      const steps = [...scanInSteps(written)].length;
      expect(steps).toBeGreaterThanOrEqual(Math.floor(written.length / (64 * 1024 + 12)) - 1);
    }),
    { numRuns: 25 },
  );
});
