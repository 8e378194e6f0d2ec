import type { ErrorCode } from "../harness/errors.ts";
import type { Tree } from "../harness/tree.ts";

/** The action of a call on a path. `calls.ts` maps the functions to these actions. */
export type Call =
  | "read"
  | "update"
  | "list"
  | "tree"
  | "search"
  | "create"
  | "overwrite"
  | "delete"
  | "remove";

/** The end of a call: it works, finds nothing to delete, or is refused with a code. */
export type CallResult = "ok" | "nothing" | ErrorCode;

export type ExpectedResults = Readonly<Record<Call, CallResult>>;

/** A tree, a path in it that a hostile or mistaken caller sends, and the results of the calls. */
export interface EscapeCase {
  readonly name: string;
  /** The entries besides those of `commonTree`. */
  readonly tree: Tree;
  /** The path as it is sent. `<base>` stands for the host path of the base. */
  readonly path: string;
  readonly expected: ExpectedResults;
  /**
   * All calls that reach something forbidden here without a jail; or the reason why none can, so that the row
   * explains itself.
   */
  readonly reaches: readonly Call[] | string;
  /** The form of `path` after a program has decoded or normalised it, if that is the danger. */
  readonly unjailedPath?: string;
  /** The place that a successful write changes. Default: `path`. */
  readonly place?: string;
  /** The entry that a successful delete removes. Default: `path`. */
  readonly entry?: string;
  /** The result of creating a folder there. Default: that of creating a file. */
  readonly makeFolder?: CallResult;
  /** The result of creating a file below it. Default: that of listing it. */
  readonly below?: CallResult;
  /** The result of setting the mode of an existing folder. Default: it works. */
  readonly changeMode?: CallResult;
  /** The result of copying the entry. Default: that of a recursive delete. */
  readonly copy?: CallResult;
}

/** The entries of every escape case: files that the base may show, and files that nothing may reach. */
export const commonTree: Tree = {
  "a.txt": "inside\n",
  "other.txt": "another inside\n",
  "d/b.txt": "inside\n",
  "../outside/outside-name.txt": "outside-secret\n",
  "../outside/sub/outside-name.txt": "outside-secret\n",
};

/** Contents of forbidden files. No path that is sent contains these words. */
export const secrets = ["outside-secret", "denied-secret"];

/** A word that only the names of outside files contain. */
export const outsideName = "outside-name";

/** Returns whether no call may show or change the entry at this key of a snapshot. */
export const isForbidden = (key: string): boolean =>
  key.startsWith("../") ||
  /(^|\/)(\.env(\.[^/]*)?|[^/]*\.(pem|key)|secrets\/[^/]+|\.coder-tmp-[^/]*)(\/|$)/.test(key);

export const forEachCall = (verdict: CallResult): ExpectedResults => ({
  read: verdict,
  update: verdict,
  list: verdict,
  tree: verdict,
  search: verdict,
  create: verdict,
  overwrite: verdict,
  delete: verdict,
  remove: verdict,
});

/** The results for a regular file that calls may use. */
export const aFile: ExpectedResults = {
  ...forEachCall("ok"),
  list: "C210",
  tree: "C210",
  search: "C210",
  create: "C217",
};

/** The results for a folder that is not empty. */
export const aFolder: ExpectedResults = {
  ...forEachCall("ok"),
  read: "C210",
  update: "C210",
  create: "C217",
  overwrite: "C210",
  delete: "C216",
};

/** The results for the base, a folder that cannot be deleted. */
export const theBase: ExpectedResults = { ...aFolder, delete: "C210", remove: "C210" };

/** The results for a FIFO: neither file nor folder, but its name can be removed. */
export const aFifo: ExpectedResults = { ...forEachCall("C210"), create: "C217", delete: "ok", remove: "ok" };

/** The results for a free name that may be created. */
export const aNewName: ExpectedResults = {
  ...forEachCall("C211"),
  create: "ok",
  overwrite: "ok",
  delete: "nothing",
  remove: "nothing",
};

/** Like `aNewName`, but the folder around it is missing too. */
export const aNewNameDeep: ExpectedResults = { ...aNewName, create: "C211" };

/** The results for a free name that cannot be created. */
export const noNewName: ExpectedResults = { ...aNewName, create: "C210", overwrite: "C210" };

/** The results for a path that goes on below a file. */
export const belowFile: ExpectedResults = { ...forEachCall("C211"), delete: "nothing", remove: "nothing" };

/** The calls that reach a file outside, or a denied one, in a program that follows the path. */
export const asFile: readonly Call[] = ["read", "update", "search", "overwrite", "delete", "remove"];

/** The calls that reach such a folder in a program that follows the path. */
export const asFolder: readonly Call[] = ["list", "tree", "search", "remove"];

/** The calls that reach something forbidden through the links in a folder of the base. */
export const asWalk: readonly Call[] = ["tree", "search", "remove"];

/** The calls that create a free name in an existing folder. */
export const asNew: readonly Call[] = ["create", "overwrite"];
