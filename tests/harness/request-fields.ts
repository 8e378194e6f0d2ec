import { Kind, OptionalKind, type TObject, type TRecord, type TSchema } from "@sinclair/typebox";

/** A field of a request that is a text, a list or a map. */
export interface RequestField {
  /** A JSON pointer, in which `*` is each entry of a list or a map. */
  readonly pointer: string;
  readonly kind: "String" | "Array" | "Record";
  /** Returns a value of that size: characters of a text, or entries. */
  largeValue(size: number): unknown;
  /** Returns a request with a value in the field, and with all other required fields. */
  requestWith(value: unknown): unknown;
}

/** Returns the texts, lists and maps of a request, at any depth, one for each possible place. */
export const requestFieldsOf = (schema: TSchema): RequestField[] => fieldsIn(schema, "", (value) => value);

type Around = RequestField["requestWith"];

function fieldsIn(schema: TSchema, pointer: string, around: Around): RequestField[] {
  switch (schema[Kind]) {
    case "String":
      return [fieldOf("String", pointer, around, (size) => "x".repeat(size))];
    case "Array":
      return [
        fieldOf("Array", pointer, around, (size) => Array(size).fill(sampleOf(schema["items"]))),
        ...fieldsIn(schema["items"], `${pointer}/*`, (item) => around([item])),
      ];
    case "Record": {
      const item = Object.values((schema as TRecord).patternProperties)[0]!;
      const mapOf = (size: number) =>
        Object.fromEntries(Array.from({ length: size }, (_, index) => [`key${index}`, sampleOf(item)]));
      return [
        fieldOf("Record", pointer, around, mapOf),
        ...fieldsIn(item, `${pointer}/*`, (value) => around({ key: value })),
      ];
    }
    case "Object":
      return Object.entries((schema as TObject).properties).flatMap(([name, field]) =>
        fieldsIn(field, `${pointer}/${name}`, (value) =>
          around({ ...(sampleOf(schema) as object), [name]: value }),
        ),
      );
    case "Union":
      return (schema["anyOf"] as TSchema[]).flatMap((one) => fieldsIn(one, pointer, around));
    default:
      return [];
  }
}

const fieldOf = (
  kind: RequestField["kind"],
  pointer: string,
  requestWith: Around,
  largeValue: RequestField["largeValue"],
): RequestField => ({ kind, pointer, requestWith, largeValue });

/** Returns a value of a schema, with its required fields. */
function sampleOf(schema: TSchema): unknown {
  switch (schema[Kind]) {
    case "String":
      return "sample.txt";
    case "Integer":
      return 1;
    case "Boolean":
      return false;
    case "Literal":
      return schema["const"];
    case "Array":
      return [sampleOf(schema["items"])];
    case "Union":
      return sampleOf(schema["anyOf"][0]);
    case "Object":
      return Object.fromEntries(
        Object.entries((schema as TObject).properties)
          .filter(([, field]) => field[OptionalKind] !== "Optional" && field.default === undefined)
          .map(([name, field]) => [name, sampleOf(field)]),
      );
    default:
      return {};
  }
}
