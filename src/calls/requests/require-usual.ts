/**
 * Refuses names and texts that are most likely mistakes before a call uses them. `literal: true` lets them
 * pass.
 */

import type { Steps } from "../../base/scheduling/time-slice.ts";
import { isListing } from "../../text/edits/line-numbers.ts";
import type { FunctionDefinition, PathAccess, PathPlaces } from "../contract/definition.ts";
import { refuseField } from "./field-errors.ts";
import { isOfWindows, readMistakenPath } from "./mistaken-paths.ts";
import { nameSent, type PlacesSent } from "./read-request.ts";
import { hasFields } from "./schemas.ts";

/** The request field that makes names and texts literal. */
const literalField = "literal";

/** Returns whether requests of a function can declare that names and texts are literal. */
export const takesLiteral = ({ request }: Pick<FunctionDefinition, "request">): boolean =>
  literalField in request["properties"];

/** Returns whether a request declares that names and texts are literal. */
export const declaresLiteral = (request: unknown): boolean =>
  hasFields(request) && request[literalField] === true;

/**
 * Throws bad-input for a name to be created, or a text to be written, that is most likely a mistake, naming
 * what was probably meant. Works in steps.
 */
export function* requireUsual(
  definition: Pick<FunctionDefinition, "request" | "paths">,
  request: unknown,
  places: PathPlaces,
  sentAs?: PlacesSent,
): Steps<void> {
  if (!takesLiteral(definition) || !hasFields(request) || declaresLiteral(request)) return;
  for (const { at, access, when, render } of definition.paths) {
    if (!creates(access) || render !== undefined) continue;
    yield* requireUsualNames(pathsAt(request, at.slice(1).split("/"), when?.["op"]), places);
  }
  yield* requireBareTexts(request, "", sentAs);
}

/** The paths at which each request would make entries. */
const newPaths = new WeakMap<object, ReadonlySet<string>>();

/** Returns whether a request would make an entry at a path that it sent. */
export function makesAt(
  { paths }: Pick<FunctionDefinition, "paths">,
  request: unknown,
  path: string,
): boolean {
  if (!hasFields(request)) return false;
  let made = newPaths.get(request);
  if (made === undefined) {
    const fields = paths.filter(({ access, render }) => creates(access) && render === undefined);
    made = new Set(fields.flatMap(({ at, when }) => pathsAt(request, at.slice(1).split("/"), when?.["op"])));
    newPaths.set(request, made);
  }
  return made.has(path);
}

/** Names that are checked in one step, which takes a few milliseconds if they are as long as possible. */
const namesPerStep = 32;

/** Throws bad-input for the first name to be created that is most likely a mistake. */
export function* requireUsualNames(paths: readonly string[], places: PathPlaces): Steps<void> {
  for (const [index, path] of paths.entries()) {
    if (index % namesPerStep === 0) yield;
    requireUsualName(path, places);
  }
}

function requireUsualName(path: string, places: PathPlaces): void {
  const mistake = readMistakenPath(path, places);
  // No new name has this form, whatever `literal` is.
  if (mistake !== undefined && !isOfWindows(path))
    throw refuseField.mistakenPath(path, { ...mistake, mayBeLiteral: true });
}

const creates = (access: PathAccess): boolean => /^(?:create|replace|make-folder)/.test(access);

/** Returns the texts at a JSON pointer, in which `*` is each item of an array, for objects with this `op`. */
function pathsAt(value: unknown, [name, ...rest]: readonly string[], op: unknown): string[] {
  if (name === undefined) return typeof value === "string" ? [value] : [];
  if (name === "*") return Array.isArray(value) ? value.flatMap((item) => pathsAt(item, rest, op)) : [];
  if (!hasFields(value) || (op !== undefined && "op" in value && value["op"] !== op)) return [];
  return pathsAt(value[name], rest, op);
}

/** The fields of texts that are written literally. */
const textFields: ReadonlySet<string> = new Set(["content", "new_str"]);

function* requireBareTexts(value: unknown, where: string, sentAs: PlacesSent | undefined): Steps<void> {
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* requireBareTexts(item, `${where}[${index}]`, sentAs);
  if (!hasFields(value)) return;
  // An edit of numbered lines has numbers on both sides; if the file lacks those of the old text, it misses.
  const isNumberedFile = typeof value["old_str"] === "string" && isListing(value["old_str"]);
  for (const [name, item] of Object.entries(value)) {
    const place = where === "" ? name : `${where}.${name}`;
    if (typeof item === "string" && textFields.has(name) && !isNumberedFile && isListing(item))
      throw refuseField.numberedText(nameSent(place, sentAs));
    if (typeof item === "object") yield* requireBareTexts(item, place, sentAs);
  }
  yield;
}
