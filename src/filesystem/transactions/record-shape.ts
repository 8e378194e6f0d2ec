/** The fields of intent records and their types. A file on disk may contain anything. */

import type { Steps } from "../../base/scheduling/time-slice.ts";

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const hasFields = (value: unknown, checks: Readonly<Record<string, Check>>): value is Fields =>
  isObject(value) && Object.entries(checks).every(([name, check]) => check(value[name]));

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "string" && /^-?[0-9]{1,20}$/.test(value);
const isMode: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 0o7777;
const isName: Check = (value) =>
  typeof value === "string" && value !== "" && value !== "." && value !== ".." && !/[/\0]/.test(value);
const isPath: Check = (value) => typeof value === "string" && value.split("/").every(isName);
const isFolder: Check = (value) => hasFields(value, { dev: isNumber, ino: isNumber });
const isEntry: Check = (value) =>
  hasFields(value, {
    kind: (kind) => ["file", "dir", "symlink", "other"].includes(kind as string),
    dev: isNumber,
    ino: isNumber,
    size: isNumber,
    mtime: isNumber,
    ctime: isNumber,
    revision: (revision) => revision === undefined || isText(revision),
  });

const fieldsOfStep: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  place: { path: isPath, temporary: isName, staged: isEntry },
  exchange: { path: isPath, temporary: isName, aside: isName, staged: isEntry, entry: isEntry },
  "set-aside": { path: isPath, temporary: isName, entry: isEntry },
  rename: { from: isPath, to: isPath, entry: isEntry },
  chmod: { path: isPath, before: isMode, after: isMode, entry: isEntry },
};

const isStep: Check = (value) => {
  const kind = isObject(value) ? value["kind"] : undefined;
  return typeof kind === "string" && Object.hasOwn(fieldsOfStep, kind)
    ? hasFields(value, fieldsOfStep[kind]!)
    : false;
};

/** Returns whether a value has the fields of a record, with their types. */
export function* isIntentRecord(value: unknown): Steps<boolean> {
  if (!hasFields(value, fieldsOfRecord)) return false;
  for (const step of value["steps"] as unknown[]) {
    if (!isStep(step)) return false;
    yield;
  }
  return true;
}

const fieldsOfRecord: Readonly<Record<string, Check>> = {
  version: (version) => version === 1,
  transaction: isText,
  maker: isText,
  state: isFolder,
  base: isFolder,
  roots: (roots) =>
    roots === undefined ||
    (Array.isArray(roots) && roots.every((root) => isFolder(root) && hasFields(root, { name: isName }))),
  steps: Array.isArray,
};
