/** The changes of `coder::transact`: their form on the wire, and their execution. */
import { type Static, Type } from "@sinclair/typebox";
import { revisionOfBytes } from "../../filesystem/files/revision.ts";
import { copyPath } from "../../filesystem/operations/copy.ts";
import { makeFolderAt } from "../../filesystem/operations/make-folder.ts";
import { movePath } from "../../filesystem/operations/move.ts";
import type { PlannedTree } from "../../filesystem/overlay/planned-tree.ts";
import { ContentEncoding } from "../create-file/content-encoding.ts";
import { createOne } from "../create-file.ts";
import type { CoderContext } from "../define.ts";
import { removeOne } from "../delete-file.ts";
import { FileEncoding } from "../fields/file-encoding.ts";
import { octalDigits, parsePermissionBits, permissionBits } from "../fields/permission-bits.ts";
import { transferOne } from "../fields/two-paths.ts";
import { explainMissingFolder } from "../missing-paths/missing-folder.ts";
import { pauseOf } from "../services/pause.ts";
import type { ShownFields } from "../update-file/answer.ts";
import { editFile } from "../update-file/edit-file.ts";
import { UpdateOp } from "../update-file/ops.ts";
import { Failures } from "./failures.ts";

const op = <Name extends string>(name: Name) => Type.Literal(name);
const Parents = Type.Boolean({ default: true, description: "Create missing parent directories." });
const Expected = (description: string) => Type.Optional(Type.String({ description }));

const twoPaths = {
  expected_revision: Expected("Revision that the file at `from` must have."),
  from: Type.String(),
  overwrite: Type.Boolean({
    default: false,
    description: "Replace a file at `to`. A folder is never replaced.",
  }),
  parents: Parents,
  to: Type.String({ description: "The new path itself, not a folder to put it into." }),
};

/** One change. Each kind has the fields of the function that makes only such changes. */
export const TransactChange = Type.Union(
  [
    Type.Object(
      {
        content: Type.String(),
        encoding: ContentEncoding,
        expected_revision: Expected('Of the file to overwrite, or "absent" for none.'),
        mode: Type.Optional(Type.String({ description: "Octal permission bits." })),
        op: op("create"),
        overwrite: Type.Boolean({ default: false }),
        parents: Parents,
        path: Type.String(),
      },
      { description: "As an entry of coder::create-file." },
    ),
    Type.Object(
      {
        encoding: FileEncoding(),
        expected_revision: Expected("The file is edited only if it has this revision."),
        op: op("update"),
        ops: Type.Array(UpdateOp),
        path: Type.String(),
      },
      { description: "As an entry of coder::update-file." },
    ),
    Type.Object(
      {
        expected_revision: Expected("Revision that the file must have."),
        op: op("delete"),
        path: Type.String(),
        recursive: Type.Boolean({ default: false, description: "Required for non-empty directories." }),
      },
      { description: "As a path of coder::delete-file." },
    ),
    Type.Object({ op: op("move"), ...twoPaths }, { description: "As an entry of coder::move." }),
    Type.Object({ op: op("copy"), ...twoPaths }, { description: "As an entry of coder::copy." }),
    Type.Object(
      {
        mode: Type.Optional(Type.String({ description: "Octal permission bits." })),
        op: op("make-folder"),
        parents: Parents,
        path: Type.String(),
      },
      { description: "As a path of coder::make-folder." },
    ),
    Type.Object(
      {
        mode: Type.String({ description: "Octal permission bits." }),
        op: op("chmod"),
        path: Type.String(),
      },
      { description: "Set the permission bits of a file, or of a folder without what is in it." },
    ),
  ],
  { $id: "TransactChange" },
);

export type TransactChange = Static<typeof TransactChange>;
type ChangeOf<Op extends TransactChange["op"]> = Extract<TransactChange, { readonly op: Op }>;

/** The forms in which edits are shown. */
export const changeAnswers = ["echo", "diff", "none"] as const;
export type ChangeAnswer = (typeof changeAnswers)[number];

/** The result of a change, as on the wire: the fields that the function for such changes would answer. */
export interface ChangeResult extends ShownFields {
  readonly op: TransactChange["op"];
  readonly path?: string;
  readonly from?: string;
  readonly to?: string;
  readonly bytes_written?: number;
  readonly encoding?: string;
  readonly applied?: number;
  readonly new_line_count?: number;
  readonly removed?: boolean;
  readonly removed_files?: number;
  readonly moved?: boolean;
  readonly copied?: boolean;
  readonly created?: boolean;
  readonly replaced?: boolean;
  readonly dangling?: boolean;
  readonly linked_to?: string;
  readonly revision?: string;
  readonly mode?: string;
}

/**
 * Makes all changes, in order. Throws the refusal of the first that fails, with its index, and in the profile
 * `agent` with the others that fail.
 */
export async function makeChanges(
  changes: readonly TransactChange[],
  answer: ChangeAnswer,
  made: Made,
): Promise<ChangeResult[]> {
  const { context, tree } = made;
  const results: ChangeResult[] = [];
  const failures = new Failures(context);
  const pause = pauseOf(context);
  let hasMoved = false;
  for (const [index, change] of changes.entries()) {
    tree.change = index;
    const makeOne = () => makeChange(change, answer, { ...made, hasMoved });
    const result = await failures.attempt({
      index,
      paths: "path" in change ? [change.path] : [change.from, change.to],
      ...(change.op === "copy" && { changed: [change.to] }),
      async make() {
        context.deadline.check();
        await pause();
        return await makeOne();
      },
    });
    if (result !== undefined) results.push(result);
    hasMoved ||= change.op === "move" || change.op === "copy";
  }
  failures.end();
  return results;
}

async function makeChange(change: TransactChange, answer: ChangeAnswer, made: Made): Promise<ChangeResult> {
  const { context } = made;
  switch (change.op) {
    case "create":
      return await create(change, context);
    case "update":
      return await update(change, answer, made);
    case "delete":
      return await remove(change, context);
    case "move":
    case "copy":
      return await transfer(change, context);
    case "make-folder":
      return await makeFolder(change, context);
    case "chmod":
      return await changeMode(change, made);
  }
}

async function create({ op, ...spec }: ChangeOf<"create">, context: CoderContext): Promise<ChangeResult> {
  const { bytes, ...kept } = await createOne(spec, context);
  return { op, path: spec.path, bytes_written: bytes.length, ...kept, revision: revisionOfBytes([bytes]) };
}

async function update(
  { op, ...spec }: ChangeOf<"update">,
  answer: ChangeAnswer,
  { context, hasMoved = false, isPlan }: Made,
): Promise<ChangeResult> {
  const options = { form: answer, hasRevision: true, mayBeMoved: hasMoved, isPlan };
  const { lines, revision, fields } = await editFile(spec, options, context);
  const counts = { applied: spec.ops.length, new_line_count: lines };
  return { op, path: spec.path, ...counts, revision: revision!, ...fields };
}

async function remove(
  { op, path, recursive, expected_revision: expectedRevision }: ChangeOf<"delete">,
  context: CoderContext,
): Promise<ChangeResult> {
  return { op, path, ...(await removeOne({ path, recursive, expectedRevision }, context)) };
}

async function transfer(
  { op, ...spec }: ChangeOf<"move" | "copy">,
  context: CoderContext,
): Promise<ChangeResult> {
  const { isDone, ...replaced } = await transferOne(spec, context, op === "move" ? movePath : copyPath);
  const done = op === "move" ? { moved: isDone } : { copied: isDone };
  return { op, from: spec.from, to: spec.to, ...done, ...replaced };
}

async function makeFolder(
  { op, path, mode, parents }: ChangeOf<"make-folder">,
  context: CoderContext,
): Promise<ChangeResult> {
  const bits = permissionBits(mode, context.profile["make-folder.mode"]);
  const options = { mode: bits, parents, mayExist: true };
  const make = () => makeFolderAt(context.tree, { path, ...options }, context);
  return { op, path, created: await explainMissingFolder(make, { path, parents }, context) };
}

async function changeMode({ op, path, mode }: ChangeOf<"chmod">, { tree }: Made): Promise<ChangeResult> {
  const bits = parsePermissionBits(mode);
  const isChanged = await tree.changeOwnMode(path, bits);
  return { op, path, mode: octalDigits(bits), ...(!isChanged && { unchanged: true }) };
}

/** The tree that changes are made on, and the context of the call with its files. */
interface Made {
  readonly context: CoderContext;
  readonly tree: PlannedTree;
  /** Whether the call only plans the changes. */
  readonly isPlan: boolean;
  /** Whether earlier changes move or copy anything. */
  readonly hasMoved?: boolean;
}
