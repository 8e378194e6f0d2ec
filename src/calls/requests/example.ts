/** Makes an example value for a field, from the sent value if that suffices. */
import { Kind, type TSchema } from "@sinclair/typebox";
import { nearestName } from "./field-names.ts";
import { isArray, isObject, isOptional, literalsOf, objectsOf, withoutNull } from "./schemas.ts";

/**
 * Returns the field with a valid value, such as `"line_from": 3`, or `undefined` if nothing says which of
 * several values was meant.
 */
export function exampleOf(field: string, schema: TSchema, sent: unknown): string | undefined {
  const literals = literalsOf(withoutNull(schema));
  const near = typeof sent === "string" ? nearestName(sent, (literals ?? []).map(String)) : undefined;
  if (literals !== undefined && literals.length > 1 && near === undefined) return undefined;
  const name = /([^.[\]]+)(?:\[\d+\])*$/.exec(field)?.[1] ?? field;
  const isItem = field.endsWith("]");
  const value = JSON.stringify(near ?? valueFor(schema, sent, name));
  return isItem || name === "" ? value : `"${name}": ${value}`;
}

/**
 * Returns the field that the sent value is meant for, as an example, if the value is of another field's form:
 * an entry with a path belongs in `files`, and several paths in `paths` or `include_globs`.
 */
export function otherFieldFor(
  properties: Readonly<Record<string, TSchema>>,
  { field, sent }: { readonly field: string; readonly sent: unknown },
): string | undefined {
  if (/^paths\[\d+\]$/.test(field) && hasPath(sent) && properties["files"] !== undefined)
    return `"files": ${JSON.stringify([{ path: sent.path.slice(0, 60), line_from: 1, line_to: 20 }])}`;
  const isSeveral = Array.isArray(sent) && sent.length > 1 && sent.every((one) => typeof one === "string");
  if (field !== "path" || !isSeveral) return undefined;
  const name = ["paths", "include_globs"].find((one) => properties[one] !== undefined);
  const shown = sent.slice(0, 3).map((one: string) => one.slice(0, 60));
  return name && `"${name}": ${JSON.stringify(shown)}`;
}

const hasPath = (sent: unknown): sent is { readonly path: string } =>
  typeof sent === "object" && sent !== null && "path" in sent && typeof sent.path === "string";

function valueFor(schema: TSchema, sent: unknown, name: string): unknown {
  const type = withoutNull(schema);
  const literals = literalsOf(type);
  if (literals !== undefined) return literals[0];
  if (isArray(type)) return [valueFor(type.items, Array.isArray(sent) ? undefined : sent, name)];
  const [object] = objectsOf(type);
  if (object !== undefined) return objectFor(object.properties);
  switch (type[Kind]) {
    case "Integer":
      return integerFor(type, sent);
    case "Boolean":
      return sent !== 0 && sent !== "no" && sent !== "off";
    case "Record":
      return { name: "value" };
    default:
      return textFor(name, sent);
  }
}

const objectFor = (properties: Readonly<Record<string, TSchema>>): object =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([, field]) => !isOptional(field))
      .map(([name, field]) => [name, isObject(field) ? {} : valueFor(field, undefined, name)]),
  );

function integerFor(type: TSchema, sent: unknown): number {
  const least: number = Math.max(type["minimum"] ?? 1, 1);
  const number = typeof sent === "string" ? Number.parseFloat(sent) : sent;
  if (typeof number !== "number" || !Number.isFinite(number)) return least;
  return Math.min(Math.max(Math.round(number), least), type["maximum"] ?? 4_294_967_295);
}

/** Texts that show more of the form than "text". */
const texts: Readonly<Record<string, string>> = {
  path: "src/main.ts",
  paths: "src/main.ts",
  from: "src/old.ts",
  to: "src/new.ts",
  mode: "0644",
  command: "ls",
};

function textFor(name: string, sent: unknown): string {
  if (typeof sent === "number" && name === "mode") return String(sent).padStart(4, "0");
  if (typeof sent === "number" || typeof sent === "boolean") return String(sent);
  if (Array.isArray(sent) && typeof sent[0] === "string") return sent[0].slice(0, 60);
  return texts[name] ?? "text";
}
