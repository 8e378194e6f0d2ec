import type { ErrorCode } from "../harness/errors.ts";
import type { Tree } from "../harness/tree.ts";

/** What a call does with a path; `calls.ts` says which functions do it. */
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

/** How a call may end: it works, it finds nothing to delete, or it is refused with a code. */
export type CallResult = "ok" | "nothing" | ErrorCode;

export type ExpectedResults = Readonly<Record<Call, CallResult>>;

/** A tree and a path in it that a hostile or mistaken caller sends, and what comes of it. */
export interface EscapeCase {
  readonly name: string;
  /** What is there besides `commonTree`. */
  readonly tree: Tree;
  /** As it is sent; `<base>` stands for the host path of the base. */
  readonly path: string;
  readonly expected: ExpectedResults;
  /**
   * The calls with which a program without a jail reaches what is forbidden here, all of them; or the reason why no such
   * program could, so that the row says what it is there for.
   */
  readonly reaches: readonly Call[] | string;
  /** What a program that decodes or normalises paths makes of `path`, where that is the danger. */
  readonly unjailedPath?: string;
  /** Where a write that works takes place; default: `path`. */
  readonly place?: string;
  /** What a delete that works removes; default: `path`. */
  readonly entry?: string;
  /** How it ends to make a folder there; default: as to create a file. */
  readonly makeFolder?: CallResult;
  /** How it ends to make a file below it; default: as to list it. */
  readonly below?: CallResult;
  /** How it ends to set the mode of a folder that is there; default: it works. */
  readonly changeMode?: CallResult;
  /** How a copy of what is there ends; default: as a recursive delete. */
  readonly copy?: CallResult;
}

/** What every escape case has: files the base may show, and files that nothing may reach. */
export const commonTree: Tree = {
  "a.txt": "inside\n",
  "other.txt": "another inside\n",
  "d/b.txt": "inside\n",
  "../outside/outside-name.txt": "outside-secret\n",
  "../outside/sub/outside-name.txt": "outside-secret\n",
};

/** Contents of forbidden files; no path that is sent has these words in it. */
export const secrets = ["outside-secret", "denied-secret"];

/** In the names of outside files alone. */
export const outsideName = "outside-name";

/** Whether the file or folder at a key of a snapshot is one that no call may show or change. */
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

/** A regular file that may be used. */
export const aFile: ExpectedResults = {
  ...forEachCall("ok"),
  list: "C210",
  tree: "C210",
  search: "C210",
  create: "C217",
};

/** A folder with something in it. */
export const aFolder: ExpectedResults = {
  ...forEachCall("ok"),
  read: "C210",
  update: "C210",
  create: "C217",
  overwrite: "C210",
  delete: "C216",
};

/** The base: a folder that cannot be deleted. */
export const theBase: ExpectedResults = { ...aFolder, delete: "C210", remove: "C210" };

/** A FIFO: neither file nor folder, but its name can be removed. */
export const aFifo: ExpectedResults = { ...forEachCall("C210"), create: "C217", delete: "ok", remove: "ok" };

/** Nothing is there, and something may be made. */
export const aNewName: ExpectedResults = {
  ...forEachCall("C211"),
  create: "ok",
  overwrite: "ok",
  delete: "nothing",
  remove: "nothing",
};

/** As `aNewName`, but the folder it would stand in is missing too. */
export const aNewNameDeep: ExpectedResults = { ...aNewName, create: "C211" };

/** Nothing is there, and nothing can be made under this name. */
export const noNewName: ExpectedResults = { ...aNewName, create: "C210", overwrite: "C210" };

/** A path that goes on below a file. */
export const belowFile: ExpectedResults = { ...forEachCall("C211"), delete: "nothing", remove: "nothing" };

/** What a program that follows the path to a file outside, or to a denied one, reaches it with. */
export const asFile: readonly Call[] = ["read", "update", "search", "overwrite", "delete", "remove"];

/** The same for a folder. */
export const asFolder: readonly Call[] = ["list", "tree", "search", "remove"];

/** For a folder in the base from which links lead to what is forbidden. */
export const asWalk: readonly Call[] = ["tree", "search", "remove"];

/** For a name in an existing folder under which nothing is there yet. */
export const asNew: readonly Call[] = ["create", "overwrite"];
