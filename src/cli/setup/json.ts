/**
 * Edits of JSON with comments. `modify` of jsonc-parser moves a comment after the last property to a new
 * one, and removes the comments above a property with it, so properties are inserted and removed here.
 */
// The main file of the package is in UMD, whose imports a bundler does not follow.
import {
  applyEdits,
  createScanner,
  type Edit,
  findNodeAtLocation,
  getNodeValue,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser/lib/esm/main.js";
import { isMapping, type Mapping, type Syntax, Unchangeable, withPrototypes } from "./syntax.ts";

/** JSON as in RFC 8259, for clients that read no comments. */
export const strictJson: Syntax = { parse: parseStrict, set, remove };

/** The syntax of JSON with comments and trailing commas. */
export const jsonWithComments: Syntax = {
  parse: (text) => (isBlank(text) ? {} : looseValue(parseLoose(text))),
  set,
  remove,
};

const bom = "\uFEFF";

function parseStrict(text: string): Mapping {
  const value: unknown = isBlank(text) ? {} : JSON.parse(text.startsWith(bom) ? text.slice(1) : text);
  if (!isMapping(value)) throw new Unchangeable("it is not an object");
  return value;
}

/** Returns whether a text is empty. Clients treat an empty file like a missing one. */
const isBlank = (text: string): boolean => text.replace(bom, "").trim() === "";

function parseLoose(text: string): Node {
  const errors: ParseError[] = [];
  // The scanner counts a mark as an unknown character; a space keeps the offsets.
  const tree = parseTree(text.startsWith(bom) ? ` ${text.slice(1)}` : text, errors, {
    allowTrailingComma: true,
  });
  const [error] = errors;
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split("\n").length;
    const words = printParseErrorCode(error.error).replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`);
    throw new Unchangeable(`line ${line} is not JSON (${words.toLowerCase()})`);
  }
  if (tree?.type !== "object") throw new Unchangeable("it is not an object");
  return tree;
}

function looseValue(tree: Node): Mapping {
  refuseRepeatedKeys(tree);
  return withPrototypes(getNodeValue(tree)) as Mapping;
}

/** Refuses an object with two properties of one name: it is not certain which of them a client reads. */
function refuseRepeatedKeys(node: Node): void {
  const names =
    node.type === "object" ? (node.children ?? []).map((child) => child.children?.[0]?.value) : [];
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw new Unchangeable(`it has the key ${JSON.stringify(repeated)} twice`);
  for (const child of node.children ?? []) refuseRepeatedKeys(child);
}

function set(text: string, path: readonly string[], fields: Readonly<Mapping>): string {
  if (isBlank(text)) return `${JSON.stringify(nest(path, fields), null, 2)}\n`;
  const tree = parseLoose(text);
  refuseRepeatedKeys(tree);
  const entry = findNodeAtLocation(tree, [...path]);
  if (entry?.type === "object")
    return Object.entries(fields).reduce(
      (edited, [key, value]) => setField(edited, [...path, key], value),
      text,
    );
  const above = nearestObject(tree, path);
  const rest = path.slice(above.depth);
  return insert(text, above.node, { key: rest[0] as string, value: nest(rest.slice(1), fields) });
}

/** Returns the mapping with `fields` at `path`. */
const nest = (path: readonly string[], fields: Readonly<Mapping>): Mapping =>
  path.reduceRight<Mapping>((inner, key) => ({ [key]: inner }), { ...fields });

/** Returns the deepest existing object on a path, with its number of keys. */
function nearestObject(tree: Node, path: readonly string[]): { node: Node; depth: number } {
  for (let depth = path.length; depth >= 0; depth--) {
    const node = findNodeAtLocation(tree, path.slice(0, depth));
    if (node === undefined) continue;
    if (node.type === "object") return { node, depth };
    throw new Unchangeable(`${path.slice(0, depth).join(".")} in it is not an object`);
  }
  throw new Unchangeable("it is not an object");
}

function setField(text: string, path: readonly string[], value: unknown): string {
  const tree = parseLoose(text);
  const above = findNodeAtLocation(tree, path.slice(0, -1)) as Node;
  if (findNodeAtLocation(tree, [...path]) === undefined)
    return insert(text, above, { key: path.at(-1) as string, value });
  return applyEdits(text, modify(text, [...path], value, { formattingOptions: layoutOf(text, tree) }));
}

interface Layout {
  readonly eol: string;
  readonly insertSpaces: boolean;
  readonly tabSize: number;
}

/** Returns the line ends and the indentation of a file, from its first property. */
function layoutOf(text: string, tree: Node): Layout {
  const [first] = tree.children ?? [];
  const indent = first === undefined ? "" : (indentAt(text, first.offset) ?? "");
  return {
    eol: text.includes("\r\n") ? "\r\n" : "\n",
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : indent.length || 2,
  };
}

/** Returns the white space before `offset` on its line, or undefined if something else is before it. */
function indentAt(text: string, offset: number): string | undefined {
  const before = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset).replace(bom, "");
  return /^[ \t]*$/.test(before) ? before : undefined;
}

/** Returns the indentation of the line at `offset`. */
const lineIndent = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1).replace(bom, ""))?.[0] ?? "";

/** Inserts a property after the last one of an object, below the comments on its line. */
function insert(
  text: string,
  object: Node,
  { key, value }: { readonly key: string; readonly value: unknown },
): string {
  const layout = layoutOf(text, parseLoose(text));
  const unit = layout.insertSpaces ? " ".repeat(layout.tabSize) : "\t";
  const outer = lineIndent(text, object.offset);
  const last = object.children?.at(-1);
  const inner = (last && indentAt(text, last.offset)) ?? outer + unit;
  const lines = `${JSON.stringify(key)}: ${JSON.stringify(value, null, unit)}`.replaceAll(
    "\n",
    layout.eol + inner,
  );
  const close = object.offset + object.length - 1;
  if (last === undefined) {
    const at = object.offset + text.slice(object.offset, close).trimEnd().length;
    const content = layout.eol + inner + lines + layout.eol + outer;
    return applyEdits(text, [{ offset: at, length: close - at, content }]);
  }
  const end = last.offset + last.length;
  const { hasComma, place } = afterProperty(text, end);
  const edits: Edit[] = hasComma ? [] : [{ offset: end, length: 0, content: "," }];
  if (text.slice(object.offset, close).includes("\n"))
    edits.push({ offset: place, length: 0, content: layout.eol + inner + lines + (hasComma ? "," : "") });
  else
    edits.push({
      offset: place,
      length: 0,
      content: ` ${JSON.stringify(key)}: ${JSON.stringify(value)}${hasComma ? "," : ""}`,
    });
  // Both may be at the same offset; the comma comes first.
  return edits.length === 2 && place === end
    ? applyEdits(text, [{ offset: end, length: 0, content: edits.map(({ content }) => content).join("") }])
    : applyEdits(text, edits);
}

// The numbers of the const enum SyntaxKind, which a transpiler of single files cannot read.
const commaToken = 5;
const lineCommentTrivia = 12;
const blockCommentTrivia = 13;
const lineBreakTrivia = 14;
const trivia = 15;

/**
 * Finds the comma after a property that ends at `end`, and the end of that and of the comments on its line.
 */
function afterProperty(text: string, end: number): { hasComma: boolean; commaEnd: number; place: number } {
  const scanner = createScanner(text, false);
  scanner.setPosition(end);
  let hasComma = false;
  let commaEnd = end;
  let place = end;
  let isSameLine = true;
  for (;;) {
    const kind = scanner.scan() as number;
    const tokenEnd = scanner.getTokenOffset() + scanner.getTokenLength();
    if (kind === commaToken && !hasComma) {
      hasComma = true;
      commaEnd = tokenEnd;
      // A comma on a later line is where the next property follows.
      place = tokenEnd;
      isSameLine = true;
    } else if (kind === lineCommentTrivia || kind === blockCommentTrivia) {
      if (isSameLine) place = tokenEnd;
    } else if (kind === lineBreakTrivia) {
      isSameLine = false;
    } else if (kind !== trivia) return { hasComma, commaEnd, place };
  }
}

function remove(text: string, path: readonly string[]): string {
  const tree = parseLoose(text);
  refuseRepeatedKeys(tree);
  const property = findNodeAtLocation(tree, [...path])?.parent;
  const object = property?.parent;
  if (property === undefined || object === undefined) return text;
  const edited = removeProperty(text, object, property);
  const above = path.slice(0, -1);
  const outer = findNodeAtLocation(parseLoose(edited), above)?.parent;
  const name = outer?.children?.[0];
  // A comment in the empty object, or before it, keeps it.
  const isEmpty =
    outer !== undefined &&
    name !== undefined &&
    /^\s*:\s*\{\s*\}$/.test(edited.slice(name.offset + name.length, outer.offset + outer.length));
  return isEmpty ? remove(edited, above) : edited;
}

function removeProperty(text: string, object: Node, property: Node): string {
  const end = property.offset + property.length;
  const { hasComma, commaEnd } = afterProperty(text, end);
  const edits: Edit[] = [];
  const siblings = object.children ?? [];
  const previous = siblings[siblings.indexOf(property) - 1];
  if (!hasComma && previous !== undefined) {
    const comma = afterProperty(text, previous.offset + previous.length).commaEnd;
    edits.push({ offset: comma - 1, length: 1, content: "" });
  }
  // Comments between a property and its comma stay.
  const isTogether = hasComma && text.slice(end, commaEnd - 1).trim() === "";
  if (hasComma && !isTogether) edits.push({ offset: commaEnd - 1, length: 1, content: "" });
  const [from, to] = wholeLines(text, property.offset, isTogether ? commaEnd : end);
  edits.push({ offset: from, length: to - from, content: "" });
  return applyEdits(text, edits);
}

/** Widens a range to whole lines if nothing else is on them, else by the blanks before it. */
function wholeLines(text: string, from: number, to: number): [number, number] {
  const start = from - (/[ \t]*$/.exec(text.slice(0, from))?.[0].length ?? 0);
  const blanks = /^[ \t]*/.exec(text.slice(to))?.[0].length ?? 0;
  const atStart = start === 0 || text[start - 1] === "\n";
  const lineEnd = /^\r?\n/.exec(text.slice(to + blanks))?.[0].length;
  if (atStart && lineEnd !== undefined) return [start, to + blanks + lineEnd];
  return [start, to];
}
