/** Calls with a scope that limits them to a part of the tree (coder §26). */
import type { Tree } from "../harness/tree.ts";
import type { Case } from "./case.ts";
import { anything, type Outcome, refused } from "./roots-case.ts";

export const scopeTree: Tree = {
  "app/a.txt": "needle in app\n",
  "app/.env": "denied-secret",
  "app/.gitignore": "*.tmp\n",
  "app/src/b.txt": "needle in src\n",
  "app/to-own": { link: "src/b.txt" },
  "app/to-docs": { link: "../docs/d.txt" },
  "app/to-nothing": { link: "../docs/none.txt" },
  "app/docs": { link: "../docs" },
  "docs/d.txt": "needle in docs\n",
  "docs/.env": "denied-secret",
  "top.txt": "needle at the top\n",
};

const app = { root: "app" };

export const scopedCall = (name: string, id: string, payload: object, expect: Outcome): Case => ({
  name,
  tree: scopeTree,
  call: { function: `coder::${id}`, payload: { fs_scope: app, ...payload } },
  expect,
});

export const outside = refused("C220", "fs_scope", "outside");

export const file = (path: string, content: string): Outcome => ({
  answer: { path, is_utf8: true, size: content.length, mode: 0o644, mtime: anything, content },
});

/** A scope that can read its root and write one folder in it. */
export const writable = { root: "app", grants: [{ path: "app", read_only: true }, { path: "app/src" }] };
