import type { Call } from "./layout.ts";

interface Way {
  readonly call: Call;
  readonly payload: (path: string) => unknown;
}

/** Finds the words of forbidden files, without being one. */
const query = "(outside|denied).(secret|name)";

const file = (path: string, rest: object) => ({ files: [{ path, ...rest }] });
const edit = { ops: [{ op: "insert", at_line: 1, content: "new" }] };

/**
 * How each function is brought to act on a path. A function of the worker that is missing here fails the matrix.
 */
export const waysToCall: Readonly<Record<string, readonly Way[]>> = {
  "coder::read-file": [{ call: "read", payload: (path) => ({ path }) }],
  "coder::update-file": [{ call: "update", payload: (path) => file(path, edit) }],
  "coder::list-folder": [{ call: "list", payload: (path) => ({ path }) }],
  "coder::tree": [{ call: "tree", payload: (path) => ({ path, max_depth: 20 }) }],
  "coder::search": [{ call: "search", payload: (path) => ({ path, query, regex: true }) }],
  "coder::create-file": [
    { call: "create", payload: (path) => file(path, { content: "new", overwrite: false, parents: false }) },
    { call: "overwrite", payload: (path) => file(path, { content: "new", overwrite: true, parents: true }) },
  ],
  "coder::delete-file": [
    { call: "delete", payload: (path) => ({ paths: [path], recursive: false }) },
    { call: "remove", payload: (path) => ({ paths: [path], recursive: true }) },
  ],
};
