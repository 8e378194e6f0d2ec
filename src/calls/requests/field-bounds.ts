/**
 * The maximum size of each field of a request. Every text, list and map has a bound here, or the reason why
 * it needs none. The profile `agent` refuses larger fields before anything is done. In the profile
 * `contract`, a field may be as large as a request.
 */
import { refuseField } from "./field-errors.ts";
import { hasFields } from "./schemas.ts";

/**
 * Maximum characters of a text, or entries of a list or a map; or the reason why work on a larger one keeps
 * no other call waiting.
 */
export type FieldBound = { readonly max: number } | { readonly reason: string };

// Each path of more than 4,096 bytes is refused by itself; an answer may repeat it.
const path = { max: 65_536 };
const glob = { reason: "the globs of a field have at most 4,096 characters together" };
const shellGlob = { reason: "the globs of a field have at most 8,192 characters together" };
const text = { reason: "read, compared and written in slices of time" };
const pattern = { max: 65_536 };
const objects = { max: 1000 };
const texts = { max: 10_000 };
const name = { max: 256 };

/** Maximum objects of one request, such as files and their ops together. */
export const maxObjects = 2500;

/**
 * The bounds, by function and field, or by field alone. A field is a JSON pointer, or the end of one; `*`
 * stands for each entry of a list or a map. The longest key that fits counts.
 */
export const fieldBounds: Readonly<Record<string, FieldBound>> = {
  "/path": path,
  "/paths": texts,
  "/paths/*": path,
  "/from": path,
  "/to": path,
  "/src": path,
  "/dst": path,
  "/base_dir": path,
  "/patch_path": path,
  "/cwd": path,
  "/fs_scope/root": path,
  "/fs_scope/boundary": path,
  "/fs_scope/grants": { max: 100 },
  "/fs_scope/grants/*": path,
  "/files": objects,
  "/changes": objects,
  "/ops": objects,
  "/content": text,
  "/old_str": text,
  "/new_str": text,
  "/patch": text,
  "/replacement": pattern,
  "/pattern": pattern,
  "/query": pattern,
  "/patterns": { max: 1000 },
  "/patterns/*": pattern,
  "/include_globs": { max: 1000 },
  "/include_globs/*": glob,
  "/snapshot": { max: 1000 },
  "/snapshot/*": glob,
  "/exclude_globs": { max: 1000 },
  "/exclude_globs/*": glob,
  "/include_glob": { max: 1000 },
  "/include_glob/*": shellGlob,
  "/exclude_glob": { max: 1000 },
  "/exclude_glob/*": shellGlob,
  "/file_types": { max: 1000 },
  "/file_types/*": name,
  "/exclude_file_types": { max: 1000 },
  "/exclude_file_types/*": name,
  "/encoding": name,
  "/cursor": { max: 16_384 },
  "/expected_revision": name,
  "/expected_revisions": { max: 1000 },
  "/expected_revisions/*": name,
  "/mode": name,
  "/since": name,
  "/plan": name,
  "/transaction": name,
  "/label": { max: 200 },
  "/author": name,
  // They are compared as text with the paths of records, and with those of changes.
  "coder::undo/paths/*": { max: 4096 },
  "coder::checkpoints/path": { max: 4096 },
  "coder::changes/path": { max: 4096 },
  "/command": { max: 131_072 },
  "/args": texts,
  // The kernel takes 128 KiB with the NUL at the end (MAX_ARG_STRLEN).
  "/args/*": { max: 131_071 },
  "/env": { max: 1000 },
  "/env/*": { max: 131_072 },
  "/stdin": { reason: "written to the program as it reads" },
  "/job_id": name,
  "/grep": pattern,
  "/wait_for": pattern,
  "/target/sandbox_id": name,
  "shell::fs::sed/files": texts,
  "shell::fs::sed/files/*": path,
  "/content/access_key": name,
  "/content/channel_id": name,
};

/** Returns the name under which the bound of a field of a function stands; `undefined` if it has none. */
export function nameOfBound(id: string, pointer: string): string | undefined {
  if (Object.hasOwn(fieldBounds, id + pointer)) return id + pointer;
  for (let at = 0; at >= 0; at = pointer.indexOf("/", at + 1))
    if (Object.hasOwn(fieldBounds, pointer.slice(at))) return pointer.slice(at);
  return undefined;
}

/** Sizes that are allowed without looking up a bound. */
const always = { texts: 200, entries: 100 } as const;

/** Maximum fields of one object, characters of their names, and characters of a key of a map. */
export const objectBounds = { fields: 200, name: 200, key: 4096 } as const;

/** Enforces the bounds of the fields of one request. Each method throws bad-input for a larger value. */
export class RequestBounds {
  readonly #id: string;
  readonly #nameOf: (where: string) => string;
  #objects = 0;

  /** Creates the bounds for a request to the function `id`. `nameOf` returns the sent name of a field. */
  constructor(id: string, nameOf: (where: string) => string) {
    this.#id = id;
    this.#nameOf = nameOf;
  }

  requireText(where: string, value: unknown): void {
    if (typeof value === "string" && value.length > always.texts)
      this.#require(where, value.length, "characters");
  }

  requireList(where: string, { length }: readonly unknown[]): void {
    if (length > always.entries) this.#require(where, length, "entries");
  }

  requireMap(where: string, value: unknown): void {
    if (!hasFields(value)) return;
    const keys = Object.keys(value);
    if (keys.length > always.entries) this.#require(where, keys.length, "entries");
    for (const key of keys) {
      requireLength(key, objectBounds.key);
      this.requireText(`${where}[${JSON.stringify(key)}]`, value[key]);
    }
  }

  /** Enforces the number of fields of an object, and the length of their names, before its kind is known. */
  requireFields(where: string, value: object): void {
    const names = Object.keys(value);
    const max = objectBounds.fields;
    if (names.length > max)
      throw refuseField.tooLarge(this.#nameOf(where), names.length, { unit: "fields", max });
    for (const name of names) requireLength(name, objectBounds.name);
  }

  requireObject(where: string, value: object): void {
    this.requireFields(where, value);
    if (++this.#objects > maxObjects) throw refuseField.tooManyObjects(maxObjects);
  }

  #require(where: string, size: number, unit: "characters" | "entries"): void {
    const pointer = `/${where.replace(/\[(?:\d+|"(?:\\.|[^"\\])*")\]/g, "/*").replaceAll(".", "/")}`;
    const bound = fieldBounds[nameOfBound(this.#id, pointer) ?? ""];
    if (bound !== undefined && "max" in bound && size > bound.max)
      throw refuseField.tooLarge(this.#nameOf(where), size, { unit, max: bound.max });
  }
}

/** Throws bad-input for a name or a key that is too long. */
function requireLength(name: string, max: number): void {
  if (name.length > max) throw refuseField.tooLarge(name, name.length, { unit: "characters", max });
}
