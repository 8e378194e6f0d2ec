/** Cases over several roots: a writable one, a read-only one, and one inside the first. */
import type { Tree } from "../harness/tree.ts";
import { type Case, failure, Matcher } from "./case.ts";

const config = {
  roots: [
    { name: "app", path: "<base>/application" },
    { name: "docs", path: "<base>/documents", read_only: true, non_accessible_globs: ["private/**"] },
    { name: "lib", path: "<base>/application/library" },
  ],
};

const tree: Tree = {
  "application/a.txt": "needle in app\n",
  "application/.env": "denied-secret",
  "application/.gitignore": "*.log\n",
  "application/x.log": "needle in a log\n",
  "application/src/b.txt": "b\n",
  "application/to-own": { link: "a.txt" },
  "application/to-docs": { link: "../documents/read.md" },
  "application/library/l.txt": "needle in lib\n",
  "documents/read.md": "needle in docs\n",
  "documents/y.log": "needle in a log\n",
  "documents/private/p.txt": "needle in private\n",
  "unserved.txt": "needle outside\n",
};

export const anything = new Matcher("anything", () => true);
export type Outcome = Case["expect"];

export const one = (name: string, id: string, payload: unknown, expect: Outcome): Case => ({
  name,
  config,
  tree,
  call: { function: `coder::${id}`, payload },
  expect,
});

export const refused = (...error: Parameters<typeof failure>): Outcome => ({ error: failure(...error) });
