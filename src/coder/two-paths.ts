/** What `coder::move` and `coder::copy` share. */
import { type Static, type TObject, Type } from "@sinclair/typebox";
import type { Attempt, RequestPath } from "../contract/definition.ts";
import { refuse } from "../errors.ts";
import { requireRevisionForm } from "../files/expected-revision.ts";
import { Named } from "../schema/fragments.ts";
import type { CoderContext } from "./define.ts";
import { explainMismatch } from "./revisions.ts";

/** An entry of a request. */
export const twoPathsFields = {
  expected_revision: Type.Optional(
    Type.String({ description: "Revision that the file at `from` must have." }),
  ),
  from: Type.String(),
  overwrite: Type.Boolean({
    default: false,
    description: "Replace a file at `to`. A folder is never replaced.",
  }),
  parents: Type.Boolean({ default: true, description: "Create missing parent directories of `to`." }),
  to: Type.String({ description: "The new path itself, not a folder to put it into." }),
};

/** The name of an entry's type, and what is not done in a dry run. */
interface Naming {
  readonly spec: string;
  readonly title: string;
  readonly dryRun: string;
}

export const twoPathsRequest = ({ spec, title, dryRun }: Naming) =>
  Type.Object(
    {
      dry_run: Type.Boolean({ default: false, description: dryRun }),
      files: Type.Array(Named(spec, twoPathsFields)),
    },
    { title },
  );

type Spec = Static<TObject<typeof twoPathsFields>>;

/** What a call does with the second path. */
export const targetPaths: readonly RequestPath[] = [
  { at: "/files/*/to", access: "create", when: { overwrite: false, parents: false } },
  { at: "/files/*/to", access: "replace", when: { overwrite: true, parents: true } },
];

interface Entries {
  readonly files: readonly Spec[];
  readonly dry_run: boolean;
}

/** The verb of the disk that is called for each entry. */
type Verb = CoderContext["files"]["move"];

/** Calls a verb for each entry, on its own. Throws a refusal for no entries. */
export async function eachEntry(
  { files, dry_run: dryRun }: Entries,
  context: CoderContext,
  verb: Verb,
): Promise<{ readonly spec: Spec; readonly outcome: Attempt<boolean> }[]> {
  if (files.length === 0) throw refuse.emptyBatch("files");
  const done = [];
  for (const spec of files) {
    const { expected_revision: expectedRevision, ...paths } = spec;
    const work = () => verb({ ...paths, expectedRevision, dryRun }, context);
    done.push({ spec, outcome: await context.attempt(() => explained(work, spec, context)) });
  }
  return done;
}

async function explained(
  work: () => Promise<boolean>,
  { from: path, expected_revision: expected }: Spec,
  context: CoderContext,
): Promise<boolean> {
  if (expected === undefined) return await work();
  requireRevisionForm(expected);
  return await explainMismatch(work, { path, expected }, context);
}

/** The revision that a file has now, where the entry says which one it had. */
export const revisionLeft = ({ expected_revision: revision }: Spec): { revision?: string } =>
  revision === undefined ? {} : { revision };
