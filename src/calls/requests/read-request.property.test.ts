import { expect, test } from "bun:test";
import fc from "fast-check";
import { validate } from "../../base/schema/validate.ts";
import { functions } from "../../coder/functions.ts";
import { shellFunctions } from "../../shell/functions.ts";
import { coerceBoolean, coerceInteger } from "./coerce.ts";
import { fieldNamed, snakeCase } from "./field-names.ts";
import { readPayload } from "./read-request.ts";
import { synonyms } from "./synonyms.ts";

const definitions = [...functions, ...shellFunctions];
const rules = { isForgiving: true, unknownFields: "refuse" } as const;
const strict = { unknownKeys: "ignore" } as const;

const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Returns the example in the form of a caller who is careless about names and types. `random` decides for
 * each part.
 */
function careless(value: unknown, random: () => number): unknown {
  if (typeof value === "number" || typeof value === "boolean") return random() < 0.5 ? String(value) : value;
  if (typeof value !== "object" || value === null) return value;
  const loose = Array.isArray(value)
    ? value.map((item) => careless(item, random))
    : Object.fromEntries(
        Object.entries(value).map(([name, item]) => [
          random() < 0.5 ? camelCase(name) : name,
          careless(item, random),
        ]),
      );
  const shape = random();
  if (shape < 0.2) return JSON.stringify(loose);
  return shape < 0.5 && Array.isArray(loose) && loose.length === 1 ? loose[0] : loose;
}

test("an example of a function, with careless names and types, is read as that example", () => {
  const examples = definitions.flatMap((definition) =>
    definition.examples.map(({ request }) => ({ definition, request })),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...examples),
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })),
      ({ definition, request }, stream) => {
        const sent = careless(request, () => stream.next().value as number);
        const { payload } = readPayload(definition, sent, rules);
        expect(validate(definition.request, payload, strict)).toEqual(
          validate(definition.request, request, strict),
        );
      },
    ),
    { numRuns: 2000 },
  );
});

test("a payload that is right already is read as it stands, without a note", () => {
  for (const definition of definitions) {
    for (const { request } of definition.examples)
      expect(readPayload(definition, request, rules)).toEqual({ payload: request, notes: [] });
  }
});

test("a text is an integer only if it is that number", () => {
  fc.assert(
    fc.property(fc.oneof(fc.maxSafeInteger().map(String), fc.bigInt().map(String), fc.string()), (text) => {
      const number = coerceInteger(text);
      if (typeof number === "number") expect(BigInt(number)).toBe(BigInt(text.trim().replace(/\.0+$/, "")));
      else expect(number).toBe(text);
    }),
  );
  fc.assert(fc.property(fc.maxSafeInteger(), (number) => coerceInteger(String(number)) === number));
  fc.assert(
    fc.property(fc.string(), (text) => /^\s*(true|false)\s*$/i.test(text) || coerceBoolean(text) === text),
  );
});

test("whatever is sent, reading it does not throw anything but a refusal", () => {
  fc.assert(
    fc.property(fc.constantFrom(...definitions), fc.jsonValue(), (definition, payload) => {
      try {
        readPayload(definition, payload, rules);
      } catch (error) {
        expect((error as Error).name).toBe("Refusal");
      }
    }),
  );
});

test("every synonym stands for its field in some function, and is in snake case", () => {
  const fields = definitions.flatMap(({ request }) => placesIn(request));
  for (const [ours, theirs] of Object.entries(synonyms)) {
    const having = fields.filter((one) => Object.hasOwn(one, ours));
    expect(having.length).toBeGreaterThan(0);
    for (const name of theirs) {
      expect(name.startsWith("-") || snakeCase(name) === name).toBe(true);
      const taken = having.filter((one) => !Object.hasOwn(one, name));
      expect(taken.some((one) => fieldNamed(name, one) === ours)).toBe(true);
    }
  }
});

/** Returns the fields of all objects in a schema. */
function placesIn(schema: unknown): Record<string, unknown>[] {
  if (typeof schema !== "object" || schema === null) return [];
  const own = "properties" in schema ? [schema.properties as Record<string, unknown>] : [];
  return [...own, ...Object.values(schema).flatMap(placesIn)];
}
