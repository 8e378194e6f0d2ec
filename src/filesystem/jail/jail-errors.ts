import { quoteShort, Refusal } from "../../base/errors.ts";

/** Refusals of the jail, and of code that uses its folders. */
export const refuseJailed = {
  /** Refuses a denied path. This reveals nothing about the disk, because only the sent path decides. */
  denied: (path: string, glob: string): Refusal =>
    new Refusal(
      "denied-by-rule",
      `${quoteShort(path)} matches the deny rule ${/[\p{C}\s"]/u.test(glob) ? quoteShort(glob) : glob}; no call reads or changes such names, whether they exist or not.`,
      path,
    ),

  /** Refuses a path that leads through one root into another one inside it. `served` is its only path. */
  inOtherRoot: (path: string, served: string): Refusal =>
    new Refusal(
      "denied-by-rule",
      `${quoteShort(path)} leads into another root, ${quoteShort(served.split("/", 1)[0]!)}, and is reached by the name of that alone. Send ${quoteShort(served)}.`,
      path,
    ),

  /**
   * Refuses a change of a file that callers may read, so the sentence need not hide that it exists. `program`
   * would act on the change by itself.
   */
  protected: (path: string, program?: string): Refusal =>
    new Refusal(
      "protected",
      `The configuration protects ${quoteShort(path)}, or something in it, from every change${program === undefined ? "" : `, since ${program} would run what it says`}. Nothing was changed. It can be read. Choose another path, or ask the user to make the change.`,
      path,
    ),

  /** Refuses a change in a read-only root. A root is configured as a whole. */
  readOnlyRoot: (path: string, root: string, writable: readonly string[]): Refusal =>
    new Refusal(
      "protected",
      `${quoteShort(path)} lies in the root ${quoteShort(root)}, which is read-only. Nothing was changed. It can be read. ${choose(writable)}`,
      path,
    ),

  /** Refuses to create, change or remove a root itself. */
  rootItself: (path: string, writable: readonly string[]): Refusal =>
    new Refusal(
      "protected",
      `${quoteShort(path)} is a root: an entry of the top folder, which cannot be changed. Nothing was changed. ${choose(writable)}`,
      path,
    ),

  /** Refuses to create or change anything outside the roots. */
  top: (path: string, writable: readonly string[]): Refusal =>
    new Refusal(
      "protected",
      `${quoteShort(path)} is in no root: the top folder holds only the roots and cannot be changed. Nothing was changed. ${choose(writable)}`,
      path,
    ),

  /**
   * Refuses a path outside the scope, before the disk is read: whether something is there, or denied, makes
   * no difference.
   */
  outOfScope: (path: string): Refusal =>
    new Refusal(
      "out-of-scope",
      `${quoteShort(path)} is outside the \`fs_scope\` of this call. Send a path inside it.`,
      path,
    ),

  readOnlyGrant: (path: string): Refusal =>
    new Refusal(
      "out-of-scope",
      `The \`fs_scope\` of this call only permits reading ${quoteShort(path)}. Nothing was changed. Choose a path that it permits writing.`,
      path,
    ),

  boundary: (path: string): Refusal =>
    new Refusal(
      "out-of-scope",
      `${quoteShort(path)} is the boundary of \`fs_scope\` itself. Nothing was changed. Name something in it.`,
      path,
    ),

  manyGrants: (grants: number, limit: number): Refusal =>
    new Refusal(
      "bad-input",
      `\`fs_scope\` has ${grants} grants; the maximum is ${limit}. Send fewer, such as the folders around them.`,
    ),

  rootMissing: (root: string): Refusal =>
    new Refusal(
      "io",
      `The root ${quoteShort(root)} is not served: its folder could not be reached when the server started. Work in another root, or ask the user to make the folder available and restart the server.`,
      root,
    ),

  rootGone: (root: string): Refusal =>
    new Refusal(
      "io",
      `The root ${quoteShort(root)} is gone: it was removed or moved away while the server ran. Work in another root, or ask the user to restore it.`,
      root,
    ),
} as const;

const maxNamed = 5;

const choose = (writable: readonly string[]): string =>
  writable.length === 0
    ? "No root here can be written to."
    : `Choose a path in ${writable
        .slice(0, maxNamed)
        .map((root) => quoteShort(`${root}/`))
        .join(" or ")}.`;
