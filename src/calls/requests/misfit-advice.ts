/**
 * Advises on a value that does not fit its field. A model sends what the advice names, so it names a value
 * only if that says exactly what the sent one says. Otherwise it names the expected form, or the choices.
 */
import { Kind, type TSchema } from "@sinclair/typebox";
import { Mismatch, validate } from "../../base/schema/validate.ts";
import { fieldNamed, maxComparedLength, nearestName } from "./field-names.ts";
import {
  hasFields,
  isArray,
  isObject,
  isOptional,
  literalsOf,
  mayBeLeftOut,
  objectsOf,
  type Tagged,
  taggedOf,
  withoutNull,
} from "./schemas.ts";

/** A value in a field that takes none such. */
export interface Misfit {
  /** The path of the field, such as `files[0].ops[2].at_line`. */
  readonly field: string;
  readonly schema: TSchema;
  /** `undefined` if the field is required and missing. */
  readonly sent: unknown;
  readonly payload: unknown;
  /** The fields of the function. */
  readonly properties: Readonly<Record<string, TSchema>>;
}

/** Returns sentences that say what to send, or `undefined` if the names of the expected types say it. */
export function adviceOn(misfit: Misfit): string | undefined {
  const { field, schema, sent } = misfit;
  const name = lastNameOf(field);
  const other = otherFieldFor(misfit);
  if (other !== undefined) return other;
  const value = meantValue(schema, sent, name);
  if (value === undefined) return formOf(misfit, name);
  const text = JSON.stringify(value);
  if (text.length > maxShown)
    return Array.isArray(sent) ? 'Send one string, with "\\n" between lines.' : undefined;
  return `Send ${field.endsWith("]") || name === "" ? text : `"${name}": ${text}`}.`;
}

/** Returns whether a value may be meant for a field of this type; a text is rarely meant for a number. */
export function mayTake(schema: TSchema, sent: unknown, name: string): boolean {
  const type = withoutNull(schema);
  const isScalar = type[Kind] === "Boolean" || type[Kind] === "Integer";
  return !isScalar || fits(schema, sent) || meantValue(schema, sent, name) !== undefined;
}

/** Returns the last name in the path of a field; of a value in a map, the whole path. */
function lastNameOf(field: string): string {
  let end = field.length;
  while (field[end - 1] === "]") {
    const open = field.lastIndexOf("[", end - 1);
    if (!/^\d+$/.test(field.slice(open + 1, end - 1))) return field;
    end = open;
  }
  return field.slice(field.lastIndexOf(".", end - 1) + 1, end);
}

/** Characters of a value that advice repeats whole. It names no part of a longer one. */
const maxShown = 300;

/** Returns the only value of the type of `schema` that says what the sent one says, if any. */
function meantValue(schema: TSchema, sent: unknown, name: string): unknown {
  const type = withoutNull(schema);
  const value = convert(type, sent, name);
  return value !== undefined && fits(type, value) ? value : undefined;
}

function convert(type: TSchema, sent: unknown, name: string): unknown {
  if (sent === undefined || sent === null) return undefined;
  if (isArray(type)) {
    const item = fits(type.items, sent) ? sent : meantValue(type.items, sent, name);
    return Array.isArray(sent) || item === undefined ? undefined : [item];
  }
  if (Array.isArray(sent) && sent.length === 1)
    return fits(type, sent[0]) ? sent[0] : meantValue(type, sent[0], name);
  if (isObject(type)) return objectFor(type.properties, sent);
  if (literalsOf(type) !== undefined) return undefined;
  if (type[Kind] !== "String" && typeof sent === "string" && sent.length > maxComparedLength)
    return undefined;
  if (type[Kind] === "Integer") return name.endsWith("_ms") ? millisecondsFor(sent) : integerFor(sent);
  if (type[Kind] === "Boolean")
    return booleans.get(typeof sent === "string" ? sent.trim().toLowerCase() : sent);
  return type[Kind] === "String" ? textFor(name, sent) : undefined;
}

function fits(schema: TSchema, value: unknown): boolean {
  try {
    validate(schema, value, { unknownKeys: "ignore" });
    return true;
  } catch (error) {
    if (error instanceof Mismatch) return false;
    throw error;
  }
}

/** Returns a text as the only field that an object needs: a path as `{path}`. */
function objectFor(properties: Readonly<Record<string, TSchema>>, sent: unknown): object | undefined {
  const [needed, ...more] = Object.entries(properties).filter(([, field]) => !isOptional(field));
  const isText = needed?.[1][Kind] === "String" && typeof sent === "string";
  return isText && more.length === 0 ? { [needed[0]]: sent } : undefined;
}

/** Reads `L10`, `line 10` and `5 lines`. With another unit the number may mean something else. */
function integerFor(sent: unknown): number | undefined {
  const [, digits] = /^(?:(?:L|lines?)\s*)?(\d+)(?:\s*lines?)?$/i.exec(String(sent).trim()) ?? [];
  const number = typeof sent === "string" && digits !== undefined ? Number(digits) : undefined;
  return isExact(number) ? number : undefined;
}

/** Returns whether a number is surely the one that was sent: larger ones are rounded when they are read. */
const isExact = (sent: unknown): sent is number =>
  typeof sent === "number" && Math.abs(sent) <= Number.MAX_SAFE_INTEGER;

const unitMilliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1000, sec: 1000, min: 60_000 };

/** Reads `30s`, `500 ms` and `2 min`. */
function millisecondsFor(sent: unknown): number | undefined {
  const [, digits, unit = ""] = /^(\d{1,9})\s*(ms|s|sec|min)$/i.exec(String(sent).trim()) ?? [];
  return digits === undefined ? undefined : Number(digits) * unitMilliseconds[unit.toLowerCase()]!;
}

const booleans: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  ...[1, "1", "yes", "y", "on"].map((word) => [word, true] as const),
  ...[0, "0", "no", "n", "off"].map((word) => [word, false] as const),
]);

/** The fields whose text may have several lines. */
const texts: ReadonlySet<string> = new Set(["content", "new_str", "old_str", "patch", "stdin"]);

/** The form of texts that a number is never meant for. */
const forms: ReadonlyMap<string, string> = new Map([
  ["cursor", "Send the cursor of the answer before, or leave it out."],
  ["expected_revision", 'Send "sha256:" and 64 hex digits, as a read or a write answered them.'],
  ["job_id", "Send the id that shell::exec_bg answered."],
  ["patch", "Send the text of the patch."],
  ["plan", "Send the 32 hex digits that a dry run answered."],
  ["since", 'Send the position that an earlier answer ended with, such as "5f0c1a2b3c4d:17".'],
  ["transaction", "Send the 16 hex digits that an earlier answer had."],
]);

function textFor(name: string, sent: unknown): string | undefined {
  if (name === "mode") return typeof sent === "number" ? modeFor(sent) : undefined;
  if (forms.has(name) && !Array.isArray(sent)) return undefined;
  if (isExact(sent) || typeof sent === "boolean") return String(sent);
  if ((name === "path" || name === "paths") && hasPath(sent) && Object.keys(sent).length === 1)
    return sent.path;
  const isLines = Array.isArray(sent) && sent.length > 0 && sent.every((one) => typeof one === "string");
  return isLines && texts.has(name) ? sent.join("\n") : undefined;
}

/** Reads 644 as "0644". A smaller number may be the bits in decimal: 420 are those of 0644. */
const modeFor = (sent: number): string | undefined =>
  sent > 0o777 && /^[0-7]+$/.test(String(sent)) ? String(sent).padStart(4, "0") : undefined;

/** Returns advice to send the value in another field, if it has the form of that one. */
function otherFieldFor({ field, sent, payload, properties }: Misfit): string | undefined {
  if (/^paths(?:\[\d+\])?$/.test(field) && properties["files"] !== undefined && hasPath(sent))
    return sendIn("files", entriesOf(payload));
  if (!Array.isArray(sent) || sent.length < 2 || !sent.every((one) => typeof one === "string"))
    return undefined;
  if (field === "query" && properties["patterns"] !== undefined)
    return `\`query\` is one text. ${sendIn("patterns", sent)} Lines that have any of them match.`;
  if (field !== "path") return undefined;
  if (properties["paths"] !== undefined) return sendIn("paths", sent);
  return properties["include_globs"] && sendIn("include_globs", sent.flatMap(globsOf));
}

const hasPath = (sent: unknown): sent is { readonly path: string } =>
  hasFields(sent) && typeof sent["path"] === "string";

/** Returns the paths of a request as entries of `files`. */
function entriesOf(payload: unknown): unknown[] {
  const { paths } = payload as { readonly paths: unknown };
  const list: readonly unknown[] = Array.isArray(paths) ? paths : [paths];
  return list.map((one) => (typeof one === "string" ? { path: one } : one));
}

/** Returns the globs of the file of this name, and of everything in the folder of this name. */
function globsOf(path: string): string[] {
  if (/[*?]/.test(path)) return [path];
  const name = path
    .replace(/^(?:\.\/)+/, "")
    .replace(/\/+$/, "")
    .replaceAll(/[\\[\]{}]/g, "\\$&");
  if (name === "" || name === ".") return ["**"];
  return path.endsWith("/") ? [`${name}/**`] : [name, `${name}/**`];
}

function sendIn(name: string, value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > maxShown ? `Send these in \`${name}\`.` : `Send "${name}": ${text}.`;
}

/** Returns the expected form in words. */
function formOf(misfit: Misfit, name: string): string | undefined {
  const { field, schema, sent } = misfit;
  const type = withoutNull(schema);
  if (taggedOf(type) !== undefined)
    return hasFields(sent) ? kindsFor(taggedOf(type)!, sent) : needsOf(type, "It");
  const literals = literalsOf(type);
  if (literals !== undefined) return typeof sent === "string" ? meantBy(sent, literals) : undefined;
  if (isArray(type)) return needsOf(type.items, "Each entry");
  if (isObject(type)) return needsOf(type, "It");
  if (name === "mode") return 'Its digits are octal, such as "0644".';
  if (name === "content" && hasFields(sent)) return "Send its JSON as a string.";
  if (name === "at_line" && typeof sent !== "number")
    return "It is the number of the line before which the text goes; one more than the file has lines appends.";
  if (name === "to_line" && sent === undefined) return lastLineOf(misfit);
  // The published schemas of edits permit 0, which no file has.
  if (name.endsWith("_line") && typeof sent === "number" && sent < 1) return "Lines are numbered from 1.";
  if (sent !== undefined && !Array.isArray(sent) && forms.has(name)) return forms.get(name);
  if (type[Kind] === "String" && typeof sent === "number") return "Send it as a string, in quotes.";
  if (!Array.isArray(sent)) return undefined;
  return field.endsWith("]")
    ? `Each entry of \`${name}\` is one value. Send each as an entry of its own.`
    : `\`${name}\` takes one value. Make a call for each.`;
}

/** Names the kinds of an entry without a known kind that have its fields, with what else they need. */
function kindsFor({ tag, variants }: Tagged, sent: Readonly<Record<string, unknown>>): string | undefined {
  const names = Object.keys(sent).filter((name) => name !== tag);
  const kinds = variants
    .filter(({ properties }) => names.length > 0 && names.every((name) => fieldNamed(name, properties)))
    .map(({ properties }) => {
      const needed = neededOf(properties).filter((name) => name !== tag && !names.includes(name));
      return [`"${tag}": "${properties[tag]!["const"]}"`, ...needed.map((name) => `\`${name}\``)].join(", ");
    });
  const wholeFile =
    names.join() === "content" ? '; coder::create-file with "overwrite": true for a whole file' : "";
  return kinds.length === 0 ? undefined : `Send ${kinds.join("; or ")}${wholeFile}.`;
}

function meantBy(sent: string, literals: readonly string[]): string | undefined {
  const near = nearestName(sent, literals.map(String));
  return near === undefined ? undefined : `Did you mean ${JSON.stringify(near)}?`;
}

function needsOf(type: TSchema, entry: string): string | undefined {
  const objects = objectsOf(type);
  const needed = objects.map(({ properties }) => neededOf(properties));
  const inAll = (needed[0] ?? []).filter((name) => needed.every((names) => names.includes(name)));
  if (inAll.length === 0) return undefined;
  const others = objects.length > 1 ? " and the fields of that" : "";
  return `${entry} is an object with ${inAll.map((name) => `\`${name}\``).join(" and ")}${others}.`;
}

const neededOf = (properties: Readonly<Record<string, TSchema>>): string[] =>
  Object.entries(properties).flatMap(([name, field]) => (mayBeLeftOut(name, field) ? [] : [name]));

/** Names the choice of the last line of an edit that names only the first. */
function lastLineOf({ field, payload }: Misfit): string | undefined {
  let at = payload;
  for (const name of field.match(/[^.[\]]+/g)?.slice(0, -1) ?? []) at = (at as Record<string, unknown>)[name];
  const { from_line: first } = at as { readonly from_line?: unknown };
  return Number.isSafeInteger(first)
    ? `For line ${first} alone send "to_line": ${first}; for more, the number of the last line.`
    : undefined;
}
