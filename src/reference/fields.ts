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
