/** Calls with a scope that change files. */
import { gone } from "../harness/tree.ts";
import { type Case, errorWith, textWith } from "./case.ts";
import { outside, scopedCall, writable } from "./fs-scope-case.ts";
import { anything, type Outcome } from "./roots-case.ts";

const results = (...all: readonly unknown[]): Outcome => ({ answer: { results: all } });
const outsideEntry = errorWith("C220", "fs_scope");
/** Returns the outcome of an entry outside the scope, for functions that came after 0.2.0. */
const notDone = (fields: object): Outcome => ({
  answer: { results: [{ ...fields, success: false, error: outsideEntry }] },
});

const edit = { op: "create", path: "../new.txt", content: "x" };

const patch = (name: string) => `*** Begin Patch\n*** Add File: ${name}\n+new\n*** End Patch\n`;

export const fsScopeWritingCases: readonly Case[] = [
  scopedCall(
    "a file is made below the root",
    "create-file",
    { files: [{ path: "new.txt", content: "new" }] },
    {
      ...results({ path: "new.txt", success: true, bytes_written: 3 }),
      tree: { "app/new.txt": "new" },
    },
  ),
  scopedCall(
    "none beside it",
    "create-file",
    { files: [{ path: "../new.txt", content: "new", parents: true }] },
    results({ path: "../new.txt", success: false, bytes_written: 0, error: outsideEntry }),
  ),
  scopedCall(
    "none through a link",
    "create-file",
    { files: [{ path: "docs/new.txt", content: "new", overwrite: true }] },
    results({ path: "docs/new.txt", success: false, bytes_written: 0, error: outsideEntry }),
  ),
  scopedCall(
    "none where only reading is granted",
    "create-file",
    { files: [{ path: "new.txt", content: "new" }], fs_scope: writable },
    results({
      path: "new.txt",
      success: false,
      bytes_written: 0,
      error: errorWith("C220", "only permits reading"),
    }),
  ),
  scopedCall(
    "one where writing is",
    "create-file",
    { files: [{ path: "src/new.txt", content: "new" }], fs_scope: writable },
    {
      ...results({ path: "src/new.txt", success: true, bytes_written: 3 }),
      tree: { "app/src/new.txt": "new" },
    },
  ),
  scopedCall(
    "removing beside the root",
    "delete-file",
    { paths: ["../top.txt", "../none"] },
    results(
      { path: "../top.txt", success: false, removed: false, error: outsideEntry },
      { path: "../none", success: false, removed: false, error: outsideEntry },
    ),
  ),
  scopedCall(
    "removing the root",
    "delete-file",
    { paths: ["."], recursive: true },
    results({ path: ".", success: false, removed: false, error: errorWith("C220", "boundary") }),
  ),
  scopedCall(
    "removing in it",
    "delete-file",
    { paths: ["src"], recursive: true },
    {
      ...results({ path: "src", success: true, removed: true }),
      tree: { "app/src/b.txt": gone, "app/src/": gone },
    },
  ),
  scopedCall(
    "moving out",
    "move",
    { files: [{ from: "a.txt", to: "../a.txt" }] },
    notDone({ from: "a.txt", to: "../a.txt", moved: false }),
  ),
  scopedCall(
    "moving in",
    "move",
    { files: [{ from: "../top.txt", to: "top.txt" }] },
    notDone({ from: "../top.txt", to: "top.txt", moved: false }),
  ),
  scopedCall(
    "copying in",
    "copy",
    { files: [{ from: "../top.txt", to: "top.txt" }] },
    notDone({ from: "../top.txt", to: "top.txt", copied: false }),
  ),
  scopedCall(
    "copying in through a link",
    "copy",
    { files: [{ from: "docs/d.txt", to: "d.txt" }] },
    notDone({ from: "docs/d.txt", to: "d.txt", copied: false }),
  ),
  scopedCall(
    "moving what may only be read",
    "move",
    { files: [{ from: "a.txt", to: "src/a.txt" }], fs_scope: writable },
    notDone({ from: "a.txt", to: "src/a.txt", moved: false }),
  ),
  scopedCall(
    "copying it",
    "copy",
    { files: [{ from: "a.txt", to: "src/a.txt" }], fs_scope: writable },
    {
      ...results({ from: "a.txt", to: "src/a.txt", success: true, copied: true }),
      tree: { "app/src/a.txt": "needle in app\n" },
    },
  ),
  scopedCall(
    "a folder beside the root",
    "make-folder",
    { paths: ["../new"] },
    notDone({ path: "../new", created: false }),
  ),
  scopedCall(
    "of several changes one is outside",
    "transact",
    { changes: [{ op: "create", path: "new.txt", content: "x" }, edit] },
    outside,
  ),
  scopedCall(
    "all of several changes are inside",
    "transact",
    { changes: [{ op: "move", from: "a.txt", to: "src/a.txt" }] },
    {
      answer: {
        committed: true,
        results: [{ op: "move", from: "a.txt", to: "src/a.txt", moved: true }],
        transaction: anything,
      },
      tree: { "app/a.txt": gone, "app/src/a.txt": "needle in app\n" },
    },
  ),
  scopedCall(
    "a copy of what is outside, in a transaction",
    "transact",
    { changes: [{ op: "copy", from: "docs/d.txt", to: "d.txt" }] },
    outside,
  ),
  scopedCall(
    "a patch below the root",
    "apply-patch",
    { patch: patch("new.txt") },
    {
      answer: {
        committed: true,
        results: [{ path: "new.txt", kind: "added", new_line_count: 1, revision: textWith("sha256:") }],
        transaction: anything,
      },
      tree: { "app/new.txt": "new\n" },
    },
  ),
  scopedCall("a patch beside the root", "apply-patch", { patch: patch("../new.txt") }, outside),
  scopedCall("a patch with another folder", "apply-patch", { patch: patch("n"), base_dir: "docs" }, outside),
  scopedCall(
    "an edit outside",
    "update-file",
    { files: [{ path: "to-docs", ops: [{ op: "remove", from_line: 1, to_line: 1 }] }] },
    {
      answer: {
        results: [{ path: "to-docs", success: false, applied: 0, new_line_count: 0, error: outsideEntry }],
      },
    },
  ),
];
