/** Describes fields of requests in words, for the reference pages and the help of functions. */
import { Kind, OptionalKind, type TObject, type TSchema } from "@sinclair/typebox";

/** Returns a title for an object in the field `name`: its type, its tag, or the field. */
export function titleOf(schema: TObject, name: string): string {
  const tag = Object.entries(schema.properties).find(([, field]) => field[Kind] === "Literal");
  return schema.$id ?? (tag === undefined ? name : `${tag[0]} ${JSON.stringify(tag[1]["const"])}`);
}

/** Returns the kinds of objects in a field. */
export function objectsIn(field: TSchema): TObject[] {
  if (field[Kind] === "Object") return [field as TObject];
  if (field[Kind] === "Array") return objectsIn(field["items"]);
  return field[Kind] === "Union" ? field["anyOf"].flatMap(objectsIn) : [];
}

/** Renders the default of a field, or that it is required. */
export function renderDefault(field: TSchema): string {
  if ("default" in field) return `\`${JSON.stringify(field.default)}\``;
  return field[OptionalKind] === "Optional" ? "" : "required";
}

/** Renders the type of a field. */
export function renderType(field: TSchema): string {
  if (field[Kind] === "Array") return `array of ${renderType(field["items"])}`;
  if (field[Kind] === "Literal") return `\`${JSON.stringify(field["const"])}\``;
  if (field[Kind] === "Union") return field.$id ?? field["anyOf"].map(renderType).join(" or ");
  if (field[Kind] === "Object") return field.$id ?? "object";
  return field["type"];
}

/**
 * Returns the meaning of a field for readers. The descriptions of published fields stay unchanged in schemas,
 * but they name types and modules of the program that they were written for.
 */
export function describeField({ description = "" }: TSchema): string {
  return description
    .replace(
      /`None` \(or `args: null` \/ absent\) means .* See `parse_argv` in `crate::exec::host`\./,
      "Without it, or with null, `command` is split into words like a shell does; with it, even empty, `command` is the program.",
    )
    .replace(
      /Negative or fractional values silently fall back to (`\S+`) \(loose wire semantic, preserved on purpose\)\./,
      "In the profile `contract`, negative or fractional values silently fall back to $1; in `agent` they are refused.",
    )
    .replace(/ ?See \[`\w+::(\w+)`\]\./, " As `$1` of `shell::exec`.")
    .trim();
}
