import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { TObject, TSchema } from "@sinclair/typebox";
import { renderSchema } from "../base/schema/json-schema.ts";
import { validate } from "../base/schema/validate.ts";
import { renderReference } from "../calls/reference/json.ts";
import { functions } from "./functions.ts";

const golden = await Bun.file(
  join(import.meta.dir, "../../tests/conformance/coder-0.2.0.golden.json"),
).json();

test("the published part is the published reference, byte for byte", () => {
  expect(JSON.stringify(renderReference(functions, "coder 0.2.0"))).toBe(JSON.stringify(golden));
});

test("ids are unique, and each function lies in the file of its name", () => {
  const others = [
    "batch-text.ts",
    "coder-errors.ts",
    "config.ts",
    "define.ts",
    "dry-run.ts",
    "entry-text.ts",
    "file-encoding-errors.ts",
    "encodings-config.ts",
    "error-codes.ts",
    "file-encoding.ts",
    "folder-filter.ts",
    "functions.ts",
    "literal.ts",
    "missing-folder.ts",
    "narrower.ts",
    "pause.ts",
    "permission-bits.ts",
    "profiles.ts",
    "request-globs.ts",
    "revisions.ts",
    "roots-config.ts",
    "search-hints.ts",
    "search-matches.ts",
    "search-pages.ts",
    "search-text.ts",
    "services.ts",
    "storage.ts",
    "two-paths.ts",
    "with-checkpoint.ts",
  ];
  const files = readdirSync(import.meta.dir).filter(
    (name) => name.endsWith(".ts") && !/\.test(?:-kit)?\.ts$/.test(name) && !others.includes(name),
  );
  const named = functions.map(({ id }) => `${id.replace("coder::", "")}.ts`);
  expect(new Set(named).size).toBe(functions.length);
  expect(named.sort()).toEqual(files.sort());
});

test("commit declares what the functions that give plans answer", () => {
  const planning = functions.filter(({ response }) => "plan" in (response as TObject).properties);
  expect(planning.map(({ id }) => id).sort()).toEqual([
    "coder::apply-patch",
    "coder::replace",
    "coder::transact",
  ]);
  // These are about the request and the search of the dry run.
  const ofDryRun = ["plan", "plan_expires_at", "not_searched", "unmatched_globs", "notice"];
  const answered = planning.flatMap(({ response }) => Object.keys((response as TObject).properties));
  const { description, response } = functions.find(({ id }) => id === "coder::commit")!;
  const declared = [...Object.keys((response as TObject).properties), ...ofDryRun];
  expect(answered.filter((name) => !declared.includes(name))).toEqual([]);
  for (const { id } of planning) expect(description).toContain(id);
});

describe.each(functions.map((definition) => [definition.id, definition] as const))("%s", (_, definition) => {
  const request = definition.request as TObject;

  test("has an example, and every example is a good payload", () => {
    expect(definition.examples.length).toBeGreaterThan(0);
    for (const { request: payload } of definition.examples) {
      expect(() => validate(request, payload, { unknownKeys: "refuse" })).not.toThrow();
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

  test("has a title on both sides, as the registry shows it", () => {
    expect(renderSchema(definition.request)["title"]).toMatch(/Input$/);
    expect(renderSchema(definition.response)["title"]).toMatch(/Output$/);
  });
});
