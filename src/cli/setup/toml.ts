import { isDeepStrictEqual } from "node:util";
import { parse, patch, stringify } from "@decimalturn/toml-patch";
import { deleteAt, type Mapping, mergeAt, type Syntax, withPrototypes } from "./syntax.ts";

export const toml: Syntax = {
  parse: (text) => withPrototypes(parse(text)) as Mapping,
  set(text, path, fields) {
    const wanted = withPrototypes(parse(text)) as Mapping;
    mergeAt(wanted, path, fields);
    // A table at the end is the form that Codex itself writes. It is not possible if the table exists, or if
    // those above it are inline.
    const appended = appendTable(text, path, fields);
    return isDeepStrictEqual(parseOr(appended), wanted) ? appended : patch(text, wanted);
  },
  remove(text, path) {
    const wanted = withPrototypes(parse(text)) as Mapping;
    deleteAt(wanted, path);
    return patch(text, wanted);
  },
};

function appendTable(text: string, path: readonly string[], fields: Readonly<Mapping>): string {
  const end = /\r\n/.test(text) ? "\r\n" : "\n";
  const header = `[${path.map((key) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key))).join(".")}]`;
  const table = `${header}\n${stringify(fields).trimEnd()}\n`.replaceAll("\n", end);
  const above = text.trim() === "" || text.endsWith(end) ? text : text + end;
  return above.trim() === "" ? text + table : above + end + table;
}

function parseOr(text: string): unknown {
  try {
    return withPrototypes(parse(text));
  } catch {
    return undefined;
  }
}
