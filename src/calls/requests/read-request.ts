/**
 * Reads a payload as the request that its caller means. Models send names of other tool sets, numbers as
 * text, one value instead of a list, and placeholders in fields that they do not use. Anything with only one
 * possible meaning is accepted, and everything else is refused before anything is done.
 */
import { Kind, type TObject, type TSchema } from "@sinclair/typebox";
import { UnreadableJson } from "../../base/scheduling/parse-json.ts";
import { runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import { bySimilarity } from "../../base/similar-name.ts";
import type { RequestRules } from "../contract/definition.ts";
import { fsScopeField, sessionBoundary } from "../contract/fs-scope.ts";
import { coerceArray, coerceBoolean, coerceInteger, coerceMap, coerceObject } from "./coerce.ts";
import { RequestBounds } from "./field-bounds.ts";
import { refuseField } from "./field-errors.ts";
import { fieldNamed, literalNamed, maxComparedLength } from "./field-names.ts";
import {
  alternativeFor,
  commonFields,
  entryListOf,
  hasFields,
  isArray,
  isMap,
  isObject,
  isOptional,
  literalsOf,
  literalTagOf,
  mayBeLeftOut,
  objectsOf,
  shownFields,
  type Tagged,
  taggedOf,
  tagValue,
  takesNull,
  withoutNull,
} from "./schemas.ts";
import { checkpointFields, whenLeftOut, zeroIsAbsent } from "./synonyms.ts";
import { adviceFor } from "./unknown-fields.ts";

type ReadRules = Omit<RequestRules, "places">;

export interface ReadPayload {
  readonly payload: unknown;
  /** The interpretations made, such as `file_path as path`. */
  readonly notes: readonly string[];
  /** The operations sent without their kind, with the inferred one, such as `ops[1]: remove`. */
  readonly inferred?: readonly string[];
  /** The places of entries that were sent without their list. */
  readonly sentAs?: PlacesSent;
}

/** By the place of an entry in the payload as it is read: the place where its fields were sent. */
export type PlacesSent = ReadonlyMap<string, string>;

/** Returns the name of a field in the sent payload: `content` for `files[0].content` without a list. */
export function nameSent(field: string, places: PlacesSent = new Map()): string {
  if (places.size === 0) return field;
  for (let end = field.length; end > 0; end = field.lastIndexOf("]", end - 2) + 1) {
    const place = places.get(field.slice(0, end));
    if (place === undefined) continue;
    const rest = field.slice(end);
    return nameSent(place === "" ? rest.replace(/^\./, "") : place + rest, places);
  }
  return field;
}

/** The function whose request is read. */
export interface RequestShape {
  readonly id: string;
  /** The fields that tools never show. */
  readonly busFields?: readonly string[];
  readonly request: TSchema;
}

/**
 * Returns the payload with the names and types of the function's schema. Throws unknown-field for a field
 * that is not one of its own, and bad-input for two names of one field and for a field larger than its bound.
 * Whether the values are valid is up to `validate`.
 */
export const readPayload = (shape: RequestShape, payload: unknown, rules: ReadRules): ReadPayload =>
  runAtOnce(readPayloadInSteps(shape, payload, rules));

/** Like `readPayload`, in steps, so that reading very many entries keeps no other call waiting. */
export function* readPayloadInSteps(
  { id, request, busFields = [] }: RequestShape,
  payload: unknown,
  rules: ReadRules,
): Steps<ReadPayload> {
  if (!isObject(request)) return { payload, notes: [] };
  const sentAs = new Map<string, string>();
  const bounds = rules.isForgiving ? new RequestBounds(id, (where) => nameSent(where, sentAs)) : undefined;
  const reader = new Reader(request, { ...rules, bounds, busFields }, new Set(zeroIsAbsent[id]), sentAs);
  const read = yield* reader.readInSteps(request, payload, "");
  const { inferred } = reader;
  return {
    payload: read,
    notes: [...reader.notes],
    ...(inferred.length > 0 && { inferred }),
    ...(sentAs.size > 0 && { sentAs }),
  };
}

/** Fields such as `_caller_worker_id`, which the engine writes into each payload. */
const fieldOfEngine = /^_[a-z]/;

type Fields = Readonly<Record<string, unknown>>;

/** An object of a request as it is sent, and its place. */
interface SentObject {
  readonly value: Fields;
  readonly where: string;
}

interface BoundedRules extends ReadRules {
  /** The bounds of the function's fields; `undefined` if they may be as large as a request. */
  readonly bounds: RequestBounds | undefined;
  /** The fields that no error names. */
  readonly busFields: readonly string[];
}

/** Entries that are read in one step, which takes a millisecond or two before the code is compiled. */
const entriesPerStep = 32;

/** Fields of objects after which a step ends. Each may be compared with those of all kinds of entries. */
const fieldsPerStep = 512;

/** Maximum characters of all texts in a request that are parsed as lists or objects, each in one step. */
const maxParsedLength = 1_000_000;

/** A list whose entries have not been read yet. */
interface UnreadList {
  readonly items: TSchema;
  readonly sent: readonly unknown[];
  readonly where: string;
  /** The entries as they are read. */
  readonly read: unknown[];
}

class Reader {
  readonly notes = new Set<string>();
  readonly inferred: string[] = [];
  readonly sentAs: Map<string, string>;
  readonly #root: TObject;
  readonly #rules: BoundedRules;
  readonly #zeroes: ReadonlySet<string>;
  /** The fields of all objects of the request. */
  readonly #names: ReadonlySet<string>;
  readonly #unread: UnreadList[] = [];
  /** The fields that this step has read. */
  #fields = 0;
  /** The characters of the texts that stand for lists and objects. */
  #parsedLength = 0;

  constructor(
    root: TObject,
    rules: BoundedRules,
    zeroes: ReadonlySet<string>,
    sentAs = new Map<string, string>(),
  ) {
    this.#root = root;
    this.sentAs = sentAs;
    this.#names = namesIn(root);
    this.#rules = rules;
    this.#zeroes = zeroes;
  }

  /** Returns the value at `where`, converted to the form of `schema` if possible. */
  *readInSteps(schema: TSchema, value: unknown, where: string): Steps<unknown> {
    const result = this.#read(schema, value, where);
    for (let list = this.#unread.shift(); list !== undefined; list = this.#unread.shift())
      while (list.read.length < list.sent.length) {
        if (list.read.length % entriesPerStep === 0 || this.#fields >= fieldsPerStep) {
          yield;
          this.#fields = 0;
        }
        this.#readNext(list);
      }
    return result;
  }

  #readNext({ items, sent, where, read }: UnreadList): void {
    const index = read.length;
    read.push(this.#read(items, sent[index], `${where}[${index}]`));
  }

  /** Returns the value without the entries of long lists in it, which are to be read afterwards. */
  #read(schema: TSchema, value: unknown, where: string): unknown {
    const { bounds } = this.#rules;
    const type = alternativeFor(withoutNull(schema), value);
    if (isObject(type)) return this.#readObject(type, this.#structureOf(value, where, coerceObject), where);
    if (isArray(type)) {
      const list = this.#structureOf(value, where, (one) => coerceArray(one, type.items));
      if (list !== value && typeof value !== "string") this.sentAs.set(`${where}[0]`, where);
      return this.#readArray(type.items, list, where);
    }
    if (isMap(type)) {
      // It may be a list of keys with values.
      if (Array.isArray(value)) bounds?.requireList(where, value);
      const map = this.#structureOf(value, where, coerceMap);
      bounds?.requireMap(where, map);
      return map;
    }
    bounds?.requireText(where, value);
    const tagged = taggedOf(type);
    if (tagged !== undefined)
      return this.#readTagged(tagged, this.#structureOf(value, where, coerceObject), where);
    return this.#rules.isForgiving ? coerceScalar(type, value, where) : value;
  }

  /** Returns a value as a list or an object by `coerce`, if models may send another form of it. */
  #structureOf(value: unknown, where: string, coerce: (value: unknown) => unknown): unknown {
    if (!this.#rules.isForgiving) return value;
    if (typeof value !== "string") return coerce(value);
    this.#parsedLength += value.length;
    try {
      return this.#parsedLength <= maxParsedLength ? coerce(value) : value;
    } catch (error) {
      throw error instanceof UnreadableJson
        ? refuseField.unreadable(nameSent(where, this.sentAs), error)
        : error;
    }
  }

  #readArray(items: TSchema, value: unknown, where: string): unknown {
    if (!Array.isArray(value)) return value;
    this.#rules.bounds?.requireList(where, value);
    const list: UnreadList = { items, sent: value, where, read: [] };
    if (value.length <= entriesPerStep)
      while (list.read.length < value.length && this.#fields < fieldsPerStep) this.#readNext(list);
    if (list.read.length < value.length) this.#unread.push(list);
    return list.read;
  }

  #readObject(schema: TObject, value: unknown, where: string): unknown {
    if (!hasFields(value)) return value;
    this.#rules.bounds?.requireObject(where, value);
    const fields = this.#wrapEntry(schema, value, where);
    const named = this.#rename(schema, fields, { value, where });
    const result: [string, unknown][] = [];
    for (const [name, item] of named) {
      if (name === fsScopeField) result.push([name, this.#readScope(schema, item)]);
      else if (!this.#isAbsent(name, schema.properties[name]!, item))
        result.push([name, this.#read(schema.properties[name]!, item, pathOf(where, name))]);
    }
    for (const name of this.#rules.isForgiving ? Object.keys(schema.properties) : []) {
      if (Object.hasOwn(whenLeftOut, name) && !result.some(([one]) => one === name))
        result.push([name, whenLeftOut[name]]);
    }
    return Object.fromEntries(result);
  }

  /**
   * Reads a scope strictly, since it limits the rights of a model. If the function takes none, the services
   * refuse it. That of iii's harness has fields that are meant for other workers.
   */
  #readScope({ properties }: TObject, item: unknown): unknown {
    const unknownFields = sessionBoundary(item) === undefined ? this.#rules.unknownFields : "ignore";
    const strict = new Reader(this.#root, { ...this.#rules, isForgiving: false, unknownFields }, new Set());
    return Object.hasOwn(properties, fsScopeField)
      ? runAtOnce(strict.readInSteps(properties[fsScopeField]!, item, fsScopeField))
      : item;
  }

  /** Returns the fields under the names of the schema. */
  #rename(schema: TObject, fields: Fields, object: SentObject): Map<string, unknown> {
    const { where } = object;
    const named = new Map<string, unknown>();
    const renamed: [string, string, unknown][] = [];
    /** The names under which renamed fields were sent. */
    const names = new Map<string, string>();
    const entries = Object.entries(fields);
    this.#fields += entries.length;
    for (const [sent, item] of entries) {
      if (Object.hasOwn(schema.properties, sent)) {
        named.set(sent, item);
        continue;
      }
      if (where === "" && sent === fsScopeField) named.set(sent, item);
      if (where === "" && (fieldOfEngine.test(sent) || sent === fsScopeField)) continue;
      const name = this.#rules.isForgiving ? fieldNamed(sent, schema.properties) : undefined;
      if (name !== undefined) renamed.push([sent, name, item]);
      else if (this.#saysNothing(sent, item)) continue;
      else if (this.#rules.unknownFields === "refuse") throw this.#unknown(schema, sent, object);
    }
    for (const [sent, name, item] of renamed) {
      const other = named.get(name);
      const isAbsent =
        !named.has(name) || other === null || this.#isAbsent(name, schema.properties[name]!, other);
      if (!isAbsent && !isSameJson(other, item))
        throw refuseField.namedTwice([sent, names.get(name) ?? name], name, nameSent(where, this.sentAs));
      if (isAbsent) {
        named.set(name, item);
        names.set(name, sent);
      }
      this.notes.add(`${sent} as ${name}`);
    }
    return named;
  }

  #unknown(schema: TObject, name: string, { value, where }: SentObject): Error {
    const list = entryListOf(schema);
    // Its schema shows the fields of one entry beside the list.
    const field = where === "" && this.#rules.isForgiving && list ? fieldOf(list.items, name) : undefined;
    if (field !== undefined && value[list!.name] !== undefined)
      return refuseField.besideList(name, field, list!.name);
    const nearest = (names: readonly string[]) =>
      bySimilarity(
        name,
        names.filter((one) => !this.#rules.busFields.includes(one)),
      );
    const known = nearest(commonFields(schema));
    const place = nameSent(where, this.sentAs);
    return refuseField.unknownField({
      name,
      where: place,
      kind: place === where ? undefined : literalTagOf(schema),
      known,
      advice: adviceFor(this.#root, schema, { name, where, place, sent: value }),
      below: list && {
        list: list.name,
        known: nearest([...new Set(objectsOf(list.items).flatMap(commonFields))]),
      },
    });
  }

  /**
   * Returns whether an unknown field of an object was sent only because a schema shows it: the operations of
   * an edit are one object there, and so are a request and one of its entries. In strict mode a model sends
   * all fields of such an object.
   */
  #saysNothing(name: string, value: unknown): boolean {
    if (!this.#rules.isForgiving) return false;
    return value === null || (isEmpty(value) && this.#names.has(name));
  }

  /**
   * Turns `{path, content}` into `{files: [{path, content}]}`: fields that only the entries of a list have
   * make up one entry.
   */
  #wrapEntry(schema: TObject, fields: Fields, where: string): Fields {
    const list = entryListOf(schema);
    if (!this.#rules.isForgiving || list === undefined) return fields;
    const isList = (name: string) => fieldNamed(name, schema.properties) === list.name;
    const all = Object.entries(fields);
    if (all.some(([name, item]) => isList(name) && !isEmpty(item))) return fields;
    const moved = all.filter(
      ([name]) => fieldNamed(name, schema.properties) === undefined && hasField(list.items, name),
    );
    if (moved.every(([, item]) => isEmpty(item))) return fields;
    this.sentAs.set(`${pathOf(where, list.name)}[0]`, where);
    const kept = all.filter(([name]) => !isList(name) && !moved.some(([one]) => one === name));
    return Object.fromEntries([...kept, [list.name, [Object.fromEntries(moved)]]]);
  }

  #readTagged(tagged: Tagged, value: unknown, where: string): unknown {
    if (!hasFields(value)) return value;
    this.#rules.bounds?.requireFields(where, value);
    const { tag, variants } = tagged;
    const { [tag]: sent, ...all } = value;
    const others = this.#rules.isForgiving ? withoutNulls(all) : all;
    const isSent = typeof sent === "string" && sent !== "";
    if (!this.#rules.isForgiving) {
      const chosen = variants.find((variant) => tagValue(variant, tag) === sent);
      return chosen === undefined ? value : this.#readObject(chosen, value, where);
    }
    if (!isSent && sent !== undefined && sent !== null && sent !== "") return value;
    const op = isSent
      ? literalNamed(
          sent,
          variants.map((variant) => tagValue(variant, tag)),
        )
      : undefined;
    if (op !== undefined) {
      if (op !== sent) this.notes.add(`${tag} ${sent as string} as ${op}`);
      const chosen = variants.find((variant) => tagValue(variant, tag) === op)!;
      return this.#readObject(chosen, { ...others, [tag]: op }, where);
    }
    const chosen = variantFor(tagged, others, isSent ? sent : undefined);
    if (chosen === undefined) return value;
    const kind = tagValue(chosen, tag);
    if (!isSent) this.inferred.push(`${where}: ${kind}`);
    const fields = isSent ? moveBelow(chosen, others, [tag, sent]) : others;
    return this.#readObject(chosen, { ...fields, [tag]: kind }, where);
  }

  /**
   * Returns whether a value stands for one that was not sent. Models send such values in fields that they do
   * not use.
   */
  #isAbsent(name: string, field: TSchema, value: unknown): boolean {
    if (!this.#rules.isForgiving || !mayBeLeftOut(name, field)) return false;
    if (value === null) return !takesNull(field);
    if (!isOptional(field)) return false;
    const type = withoutNull(field);
    if (value === "") return true;
    if (Array.isArray(value) && value.length === 0) return !(isArray(type) && "default" in field);
    if (value !== 0 || type[Kind] !== "Integer") return false;
    return (type["minimum"] ?? 0) > 0 || this.#zeroes.has(name);
  }
}

/** Returns whether a value is a typical placeholder in an unused field. */
const isEmpty = (value: unknown): boolean => !value || (Array.isArray(value) && value.length === 0);

/** Returns whether two values have one JSON. Texts are compared without it, since they may be long. */
const isSameJson = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === "object" && JSON.stringify(one) === JSON.stringify(other));

const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, item]) => item !== null));

const known = new WeakMap<TObject, ReadonlySet<string>>();

/** Returns the names of all fields in a schema, at any depth. */
function namesIn(schema: TObject): ReadonlySet<string> {
  let names = known.get(schema);
  if (names === undefined) {
    const below = Object.values(schema.properties).flatMap((field) =>
      isArray(field) ? objectsOf(field.items) : [],
    );
    names = new Set([...shownFields(schema), ...below.flatMap((one) => [...namesIn(one)])]);
    known.set(schema, names);
  }
  return names;
}

const pathOf = (where: string, name: string): string => (where === "" ? name : `${where}.${name}`);

function coerceScalar(type: TSchema, value: unknown, where: string): unknown {
  // A longer text is neither a number nor a choice.
  if (typeof value === "string" && value.length > maxComparedLength) return value;
  if (type[Kind] === "Integer")
    return coerceInteger(checkpointFields.has(where) ? withoutMark(value) : value);
  if (type[Kind] === "Boolean") return coerceBoolean(value);
  if (type[Kind] === "Record") return coerceObject(value);
  const literals = literalsOf(type);
  return typeof value === "string" && literals !== undefined
    ? (literalNamed(value, literals) ?? value)
    : value;
}

/** Returns `"#12"`, as answers write the number of a checkpoint, without its mark. */
const withoutMark = (value: unknown): unknown =>
  typeof value === "string" ? value.replace(/^\s*#(?=\d)/, "") : value;

/** Returns whether an object of this schema takes a field, or an entry of its list does. */
function hasField(schema: TSchema, name: string): boolean {
  return objectsOf(schema).some((one) => {
    const list = entryListOf(one);
    return (
      fieldNamed(name, one.properties) !== undefined || (list !== undefined && hasField(list.items, name))
    );
  });
}

/** Returns the field that a name stands for in an entry of a list. */
const fieldOf = (items: TSchema, name: string): string | undefined =>
  objectsOf(items)
    .map(({ properties }) => fieldNamed(name, properties))
    .find((field) => field !== undefined);

/** Returns the only variant that the fields fit, with or without one entry of its list among them. */
function variantFor(
  { tag, variants }: Tagged,
  fields: Fields,
  sent: string | undefined,
): TObject | undefined {
  const only = (fitting: readonly TObject[]) => (fitting.length === 1 ? fitting[0] : undefined);
  const names = Object.keys(fields);
  if (sent !== undefined)
    return only(variants.filter((variant) => isTagBelow(variant, tag, sent) && fitOf(variant, names, tag)));
  const fits = variants.map((variant) => fitOf(variant, names, tag));
  const direct = variants.filter((_, index) => fits[index] === "direct");
  return only(direct.length > 0 ? direct : variants.filter((_, index) => fits[index]));
}

/**
 * Returns whether all fields are those of `variant`, or of it and of an entry of its list. Returns
 * `undefined` for others, and if one that it needs is missing.
 */
function fitOf(variant: TObject, names: readonly string[], tag: string): "direct" | "with-entry" | undefined {
  const list = entryListOf(variant);
  const own = new Set<string>();
  let fit: "direct" | "with-entry" = "direct";
  for (const name of names) {
    const field = fieldNamed(name, variant.properties);
    if (field !== undefined) own.add(field);
    else if (list === undefined || !hasField(list.items, name)) return undefined;
    else {
      own.add(list.name);
      fit = "with-entry";
    }
  }
  const isWhole = Object.entries(variant.properties).every(
    ([name, field]) => name === tag || own.has(name) || mayBeLeftOut(name, field),
  );
  return isWhole ? fit : undefined;
}

/** Returns whether the tag is that of an entry of the variant's list. */
function isTagBelow(variant: TObject, tag: string, value: string): boolean {
  const list = entryListOf(variant);
  const tagged = list && taggedOf(list.items);
  return (
    tagged?.tag === tag &&
    literalNamed(
      value,
      tagged.variants.map((one) => tagValue(one, tag)),
    ) !== undefined
  );
}

/** Returns the fields of a variant, with those of one entry of its list moved into that list. */
function moveBelow(variant: TObject, fields: Fields, [tag, value]: readonly [string, string]): Fields {
  const list = entryListOf(variant)!;
  const isOwn = (name: string) => fieldNamed(name, variant.properties) !== undefined;
  const entries = Object.entries(fields);
  return {
    ...Object.fromEntries(entries.filter(([name]) => isOwn(name))),
    [list.name]: [{ ...Object.fromEntries(entries.filter(([name]) => !isOwn(name))), [tag]: value }],
  };
}
