import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TObject, TSchema } from "@sinclair/typebox";
import { runAtOnce } from "../base/scheduling/time-slice.ts";
import { validate } from "../base/schema/validate.ts";
import { renderReference } from "../calls/reference/json.ts";
import { shellFunctions } from "./functions.ts";

const golden = await Bun.file(join(import.meta.dir, "../../tests/shell/shell-0.3.5.golden.json")).json();

test("the published part is the published reference", () => {
  expect(JSON.parse(JSON.stringify(renderReference(shellFunctions, "shell 0.3.5")))).toEqual(golden);
});

describe.each(shellFunctions.map((definition) => [definition.id, definition] as const))(
  "%s",
  (id, definition) => {
    const request = definition.request as TObject;

    test("lies in the file of its name", () => {
      const file = `${id.replace("shell::", "").replaceAll("::", "/")}.ts`;
      expect(existsSync(join(import.meta.dir, file))).toBe(true);
    });

    test("has an example, and every example is a good payload", () => {
      expect(definition.examples.length).toBeGreaterThan(0);
      for (const { request: payload } of definition.examples) {
        expect(() => validate(request, payload, { unknownKeys: "refuse" })).not.toThrow();
        expect(() => definition.parse && runAtOnce(definition.parse(payload))).not.toThrow();
      }
    });

    test("only a call that can write has paths that are more than read", () => {
      const writes = definition.paths.filter(({ access }) => access !== "read" && access !== "list");
      if (definition.effect === "reads") expect(writes).toEqual([]);
    });

    test("every default is a good value of its field", () => {
      for (const property of Object.values(request.properties) as TSchema[]) {
        if ("default" in property)
          expect(validate(property, property.default, { unknownKeys: "refuse" })).toEqual(property.default);
      }
    });
  },
);
