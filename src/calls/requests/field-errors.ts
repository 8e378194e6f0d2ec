/** Refusals of ambiguous or invalid requests. */
import { quoteShort, Refusal } from "../../base/errors.ts";
import type { UnreadableJson } from "../../base/scheduling/parse-json.ts";
import type { MistakenPath } from "./mistaken-paths.ts";

/** A field that an object does not have. */
export interface UnknownField {
  readonly name: string;
  /** The place of the object in the request; empty for the request itself. */
  readonly where: string;
  /** The kind of an entry that was sent without its list, such as `"op": "insert"`. */
  readonly kind: string | undefined;
  /** The next call that works, in a sentence. */
  readonly advice: string;
  /** The fields that the object has, the most similar first. */
  readonly known: readonly string[];
  /** The fields of the entries of its list, if any. */
  readonly below: { readonly list: string; readonly known: readonly string[] } | undefined;
}

interface Mistake extends MistakenPath {
  /** Whether the request can declare that the name is meant literally. */
  readonly mayBeLiteral: boolean;
}

export const refuseField = {
  unknownField: ({ name, where, kind, advice, known, below }: UnknownField): Refusal => {
    const place = where === "" ? (kind ?? "This function") : `\`${where}\``;
    const sentences = [
      `${place} has no field ${inBackticks(name)}. Nothing was done.`,
      known.length === 0 ? "Leave it out." : advice,
      known.length === 0
        ? "It has no fields at all."
        : `Its fields are ${listNames(known)}${below === undefined ? "" : `; those of an entry of \`${below.list}\` are ${listNames(below.known)}`}.`,
    ];
    const field = where === "" ? name : `${where}.${name}`;
    return new Refusal("unknown-field", sentences.join(" "), undefined, { details: { field } });
  },

  /** Refuses a field of one entry, which may be sent without its list, together with that list. */
  besideList: (name: string, field: string, list: string): Refusal =>
    new Refusal(
      "unknown-field",
      `${inBackticks(name)} and \`${list}\` exclude each other: a request is one entry without \`${list}\`, or has all entries in it. Nothing was done. Send \`${field}\` in an entry of \`${list}\`.`,
      undefined,
      { details: { field: name } },
    ),

  /** Refuses two names of one field with different values. */
  namedTwice: ([one, other]: readonly [string, string], field: string, where: string): Refusal =>
    new Refusal(
      "bad-input",
      `The fields ${inBackticks(one)} and ${inBackticks(other)}${where === "" ? "" : ` of \`${where}\``} mean the same, and have different values. Nothing was done. Send \`${field}\` alone.`,
    ),

  /** Refuses a path in the form of another program. */
  mistakenPath: (path: string, { why, instead, line, form, mayBeLiteral }: Mistake): Refusal =>
    new Refusal(
      "bad-input",
      [
        `The path ${quoteShort(path)} ${why}.`,
        instead === undefined
          ? (form ?? "That place is not served. Send the path of something that is.")
          : `Send ${quoteShort(instead)}${line === undefined ? "" : `, and to read from that line "line_from": ${line}`}.`,
        ...(mayBeLiteral ? ['If this is the name, send "literal": true.'] : []),
      ].join(" "),
      path,
    ),

  /**
   * Replaces another refusal of a path, keeping its place among several. Nothing else is kept, since it may
   * depend on the disk.
   */
  insteadOf: ({ message, details }: Refusal, { reason, message: other, path }: Refusal): Refusal => {
    const [place = ""] = placeOfChange.exec(message) ?? [];
    const change = details?.["change"];
    return new Refusal(reason, place + other, path, change === undefined ? {} : { details: { change } });
  },

  /** Replaces `plain`, the refusal of an empty path, for a change, which the base itself never has. */
  emptyPath: ({ reason, message, details }: Refusal, plain: string): Refusal =>
    new Refusal(
      reason,
      `${message.slice(0, -plain.length)}The path is empty. Send the path of a file or folder below the base folder, such as "src/main.ts".`,
      undefined,
      { ...(details && { details }) },
    ),

  /** Refuses a text with the line numbers of a listing. */
  numberedText: (field: string): Refusal =>
    new Refusal(
      "bad-input",
      `Each line of \`${field}\` begins with its number, as in a numbered read. Nothing was done. Send the text without the numbers, or "literal": true if they belong to it.`,
    ),

  /** Refuses a value that is not a map, or a list with a key twice, in the form that tools show. */
  notMap: (field: string, repeated: string | undefined): Refusal =>
    new Refusal(
      "bad-input",
      repeated === undefined
        ? `The field ${field} does not hold texts by key. Nothing was done. Send a list with an entry for each: [{"key": "NAME", "value": "text"}].`
        : `The field ${field} has two entries with the key ${quoteShort(repeated)}. Nothing was done. Send each key once.`,
    ),

  /** Refuses a field that is larger than its bound, or a request with too many fields. */
  tooLarge: (
    where: string,
    size: number,
    { unit, max }: { readonly unit: string; readonly max: number },
  ): Refusal =>
    new Refusal(
      "bad-input",
      `${where === "" ? "The request" : inBackticks(where)} has ${size} ${unit}, and may have ${max}. Nothing was done. Send fewer${unit === "characters" ? "" : ", in several calls"}.`,
    ),

  /** Refuses a text that stands for a list or an object, and is not parsed. */
  unreadable: (where: string, { fault, advice }: UnreadableJson): Refusal =>
    new Refusal(
      "bad-input",
      `${where === "" ? "The request" : `The JSON in \`${where}\``} ${fault}. Nothing was done; ${advice}.`,
    ),

  manyGrants: (grants: number, max: number): Refusal =>
    new Refusal(
      "bad-input",
      `\`fs_scope\` has ${grants} grants; the maximum is ${max}. Send fewer, such as the folders around them.`,
    ),

  /** Refuses a scope with a part outside its boundary, which is its root unless it names another one. */
  outsideBoundary: (part: "root" | "grant", path: string, boundary: string): Refusal =>
    new Refusal(
      "out-of-scope",
      `The ${part} ${quoteShort(path)} of \`fs_scope\` is outside its boundary, ${quoteShort(boundary)}. Nothing was done. Send a ${part} in that folder, or as \`boundary\` a folder that contains both.`,
      path,
    ),

  /** Refuses a request with more objects than one call takes. */
  tooManyObjects: (max: number): Refusal =>
    new Refusal(
      "bad-input",
      `The request holds more than ${max} objects, such as files and their ops together. Nothing was done. Send them in several calls.`,
    ),

  /** Refuses a value of a wrong type without a clear meaning. */
  withAdvice: ({ reason, message }: Refusal, advice: string | undefined): Refusal =>
    new Refusal(reason, advice === undefined ? message : `${message} ${advice}`),
} as const;

/** The beginning of the sentence of a change among several that are made together. */
const placeOfChange = /^Nothing was changed\. (?:\w+ \d+ of \d+ \((?:"(?:\\.|[^"\\])*"|[^"()])*\): )?/;

/** Maximum number of fields that a refusal names. */
const maxListed = 12;

function listNames(names: readonly string[]): string {
  const listed = names.slice(0, maxListed).map((name) => `\`${name}\``);
  const more = names.length - listed.length;
  return more === 0 ? listed.join(", ") : `${listed.join(", ")} and ${more} more`;
}

/** Quotes a name that a caller sent. */
const inBackticks = (name: string): string =>
  /^[\w.-]{1,64}$/.test(name) ? `\`${name}\`` : quoteShort(name.slice(0, 64));
