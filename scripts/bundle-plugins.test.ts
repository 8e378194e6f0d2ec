import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { withLateSchemas } from "./bundle-plugins.ts";

const folder = join(import.meta.dir, "../node_modules/@modelcontextprotocol/server/dist");
const path = join(folder, readdirSync(folder).find((name) => /^src-.+\.mjs$/.test(name))!);
const source = readFileSync(path, "utf8");
const z = createRequire(path)("zod/v4");

type Schemas = Readonly<Record<string, object>>;
type Maps = Readonly<Record<string, Schemas>>;

/** Runs the functions of a module of the SDK that make the schemas of revision 2025-11-25 and its maps. */
function schemasOf(text: string): { schemas: Schemas; maps: Maps } {
  const functions = /^(?:function late|function build\$1)\(.+?^function buildSchemas2025.+?^\}$/ms.exec(
    text,
  )![0];
  const maps = /^let maps\$1;.+?^\}$/ms.exec(text)![0];
  const make = new Function(
    "z",
    "TOOL_RESULT_FOREIGN_FAMILY_KEYS",
    "normalizeContentlessToolResult",
    `${functions}\n${maps}\nreturn { schemas: buildSchemas2025(), maps: registryMaps() };`,
  );
  return make(z, [], (value: unknown) => value);
}

const shapeOf = (schema: object) => z.toJSONSchema(schema, { unrepresentable: "any" });

test("each schema that is made late is the one of the SDK, and made once", () => {
  const theirs = schemasOf(source);
  const ours = schemasOf(withLateSchemas(path, source));
  expect(Object.keys(theirs.schemas).length).toBeGreaterThan(100);
  for (const [name, schema] of Object.entries(theirs.schemas)) {
    expect(shapeOf(ours.schemas[name]!), name).toEqual(shapeOf(schema));
    expect(ours.schemas[name], name).toBe(ours.schemas[name]!);
  }
  expect(Object.keys(ours.maps)).toEqual(Object.keys(theirs.maps));
  for (const [name, map] of Object.entries(theirs.maps)) {
    expect(Object.keys(ours.maps[name]!)).toEqual(Object.keys(map));
    for (const [method, schema] of Object.entries(map))
      expect(shapeOf(ours.maps[name]![method]!), method).toEqual(shapeOf(schema));
  }
});

test("a module that makes its schemas differently is refused", () => {
  expect(() =>
    withLateSchemas("index.mjs", source.replace("function build$1() {", "const build$1 = () => {")),
  ).toThrow("index.mjs no longer has");
});
