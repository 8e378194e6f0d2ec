/** Refuses names and texts that are most likely mistakes before a call makes them. `literal: true` lets them pass. */
import type { FunctionDefinition, PathAccess, PathPlaces } from "../contract/definition.ts";
import { isListing } from "../edits/line-numbers.ts";
import { refuseField } from "./errors.ts";
import { readMistakenPath } from "./mistaken-paths.ts";
import { hasFields } from "./schemas.ts";

/** The field of a request that takes names and texts as they stand. */
const literalField = "literal";

/** Whether requests of a function can say that names and texts are meant as they stand. */
export const takesLiteral = ({ request }: Pick<FunctionDefinition, "request">): boolean =>
  literalField in request["properties"];

/** Throws bad-input for a name that would be made, or a text that would be written, with what was most likely meant. */
export function requireUsual(
  definition: Pick<FunctionDefinition, "request" | "paths">,
  request: unknown,
  places: PathPlaces,
): void {
  if (!takesLiteral(definition) || !hasFields(request) || request[literalField] === true) return;
  for (const { at, access, when, render } of definition.paths) {
    if (!creates(access) || render !== undefined) continue;
    for (const path of pathsAt(request, at.slice(1).split("/"), when?.["op"])) requireUsualName(path, places);
  }
  requireBareTexts(request, "");
}

/** Throws bad-input for a name that would be made, and is most likely meant otherwise. */
export function requireUsualName(path: string, places: PathPlaces): void {
  const mistake = readMistakenPath(path, places);
  if (mistake !== undefined) throw refuseField.mistakenPath(path, { ...mistake, mayBeLiteral: true });
}

const creates = (access: PathAccess): boolean => /^(?:create|replace|make-folder)/.test(access);

/** The texts at a JSON pointer, in which `*` is each item of an array, of objects whose `op` is that. */
function pathsAt(value: unknown, [name, ...rest]: readonly string[], op: unknown): string[] {
  if (name === undefined) return typeof value === "string" ? [value] : [];
  if (name === "*") return Array.isArray(value) ? value.flatMap((item) => pathsAt(item, rest, op)) : [];
  if (!hasFields(value) || (op !== undefined && "op" in value && value["op"] !== op)) return [];
  return pathsAt(value[name], rest, op);
}

/** The fields of texts that are written as they stand. */
const textFields: ReadonlySet<string> = new Set(["content", "new_str"]);

function requireBareTexts(value: unknown, where: string): void {
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) requireBareTexts(item, `${where}[${index}]`);
  if (!hasFields(value)) return;
  // An edit of numbered lines has numbers on both sides; if those of the old text are not there, it misses.
  const isNumberedFile = typeof value["old_str"] === "string" && isListing(value["old_str"]);
  for (const [name, item] of Object.entries(value)) {
    const place = where === "" ? name : `${where}.${name}`;
    if (typeof item === "string" && textFields.has(name) && !isNumberedFile && isListing(item))
      throw refuseField.numberedText(place);
    if (typeof item === "object") requireBareTexts(item, place);
  }
}
