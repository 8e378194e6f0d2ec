/** Advises the caller of an unknown field on what it most likely means. */
import type { TObject } from "@sinclair/typebox";
import { fieldNamed, maxComparedLength, nearestName, snakeCase } from "./field-names.ts";
import { mayTake } from "./misfit-advice.ts";
import { entryListOf, isArray, isObject, literalTagOf, objectsOf, shownFields } from "./schemas.ts";
import { type OtherField, otherFields } from "./synonyms.ts";

interface Unknown {
  readonly name: string;
  readonly where: string;
  /** The place of the object in the sent payload. */
  readonly place: string;
  /** All fields of the object. */
  readonly sent: Readonly<Record<string, unknown>>;
}

/** An object of a request, and its name in a sentence. */
interface NamedObject {
  readonly schema: TObject;
  readonly words: string;
}

/** Returns the next call that works, in a sentence. */
export function adviceFor(
  root: TObject,
  schema: TObject,
  { name, where, place: sentIn, sent }: Unknown,
): string {
  const places = placesIn(root, "at the top level");
  const known = ({ properties }: TObject) =>
    Object.keys(sent).filter((one) => fieldNamed(one, properties)).length;
  // An entry that is sent without its list is most likely the one that has most of the fields.
  const here = [schema, ...belowOf(schema).toSorted((a, b) => known(b) - known(a))];
  const other = here.map((one) => otherFieldOf(one, name)).find((found) => found !== undefined);
  if (other !== undefined) return `Send ${other.send}.`;
  // Entries of one list have the fields of their `op`, and are named alike.
  const own = `in an entry of \`${/(\w+)\[\d+\]$/.exec(where)?.[1]}\``;
  const place = places.find((one) => one.words !== own && fieldNamed(name, one.schema.properties));
  if (place !== undefined) {
    const field = fieldNamed(name, place.schema.properties)!;
    return `Send \`${field}\` ${place.words}${sentIn === "" ? "" : `, not in \`${sentIn}\``}.`;
  }
  const siblings = places.filter((one) => one.words === own && fieldNamed(name, one.schema.properties));
  if (siblings.length > 0) return goesWith(name, siblings);
  const nearIn = (one: TObject) =>
    nearestName(
      name,
      shownFields(one).filter((field) => mayTake(one.properties[field]!, sent[name], field)),
    );
  const near = nearIn(schema);
  if (near !== undefined) return `Did you mean \`${near}\`? Send that, or leave it out.`;
  const elsewhere = places
    .filter((one) => one.schema !== schema && one.words !== own)
    .map((one) => ({ ...one, near: nearIn(one.schema) }))
    .filter((one) => one.near !== undefined)
    .at(0);
  return elsewhere === undefined
    ? "Leave it out, or send one of its fields."
    : `Did you mean \`${elsewhere.near}\` ${elsewhere.words}? Send that, or leave it out.`;
}

/** Names the kinds of entries that have a field which another kind does not have. */
function goesWith(name: string, objects: readonly NamedObject[]): string {
  const field = fieldNamed(name, objects[0]!.schema.properties)!;
  const kinds = objects.map(({ schema }) => literalTagOf(schema));
  return `\`${field}\` goes with ${[...new Set(kinds)].join(" or ")}.`;
}

const belowOf = (schema: TObject): readonly TObject[] => {
  const list = entryListOf(schema);
  return list === undefined ? [] : objectsOf(list.items).flatMap((one) => [one, ...belowOf(one)]);
};

const otherFieldOf = ({ properties }: TObject, name: string): OtherField | undefined =>
  (name.length > maxComparedLength ? [] : otherFields).find(
    ({ names, field }) =>
      Object.hasOwn(properties, field) && (names.includes(name) || names.includes(snakeCase(name))),
  );

/** Returns the object, and those in its lists. */
function placesIn(schema: TObject, words: string): NamedObject[] {
  const inside = Object.entries(schema.properties).flatMap(([name, field]) => {
    if (!isArray(field)) return [];
    return objectsOf(field.items).flatMap((one) => placesIn(one, `in an entry of \`${name}\``));
  });
  return [{ schema, words }, ...inside.filter(({ schema: one }) => isObject(one))];
}
