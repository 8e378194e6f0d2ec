import { isAbsolute } from "node:path";
import { type Static, type TObject, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { Refusal } from "../../base/errors.ts";
import { type Deadline, deadlineIn } from "../../base/scheduling/deadline.ts";
import { UInt64 } from "../../base/schema/fragments.ts";
import type { Example, FunctionDefinition } from "../../calls/contract/definition.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { defineShellFunction, parserOf, type ShellContext } from "../define.ts";
import { forward } from "../sandbox.ts";
import { AnyValue, Target } from "../target.ts";
import { inShellWords } from "./fs-errors.ts";

/** A function of `shell::fs::*`, which acts on the host or in a sandbox. */
interface FsFunction<Fields extends TProperties, Response extends TSchema> {
  readonly op: string;
  readonly description: string;
  /** The fields of a request besides its target, and of the request to a sandbox. */
  readonly fields: Fields;
  readonly response: Response;
  /** The schema of a sandbox's answer, unless it is `response`. */
  readonly forwardedResponse?: TSchema;
  readonly effect: FunctionDefinition["effect"];
  readonly isLong?: boolean;
  readonly paths: FunctionDefinition["paths"];
  readonly isAdditive?: boolean;
  readonly isIdempotent?: boolean;
  readonly needsBus?: boolean;
  readonly examples: readonly Example[];
  /** The request to a sandbox, if it differs. */
  forwarded?(request: Static<TObject<Fields>>): object;
  /** An upper estimate of the answer's bytes, if it may be large. */
  readonly answerBytes?: number;
  /** Does the work on the host. */
  handle(
    request: Static<TObject<Fields>>,
    context: ShellContext,
  ): Static<Response> | Promise<Static<Response>>;
}

/** By default callers wait 30 s for an answer (bus §3). */
const maxMilliseconds = 25_000;

/** Defines a function of `shell::fs::*` (shell §8.1, shell §10.2). */
export function defineFsFunction<Fields extends TProperties, Response extends TSchema>(
  fs: FsFunction<Fields, Response>,
): FunctionDefinition {
  const {
    op,
    description,
    fields,
    response,
    effect,
    isLong = false,
    paths,
    isAdditive = false,
    isIdempotent = false,
    needsBus = false,
    examples,
    answerBytes,
  } = fs;
  const request = Type.Object({ ...fields, target: Target() }) as unknown as TObject<{
    target: ReturnType<typeof Target>;
  }>;
  return defineShellFunction({
    id: `shell::fs::${op}`,
    publishedIn: "shell 0.3.5",
    description,
    // Over MCP there are no sandboxes.
    brief: `${description.replace(" on host or sandbox", "")}.`,
    busFields: ["target"],
    isRare: true,
    request,
    published: AnyValue,
    response: effect === "writes" ? withLosses(response) : response,
    effect,
    isLong,
    paths,
    ...(answerBytes !== undefined && { answerBytes: () => answerBytes }),
    isAdditive,
    isIdempotent,
    needsBus,
    examples,
    parse: parserOf(op, request),
    async handle({ target, ...rest }, context) {
      const untargeted = rest as Static<TObject<Fields>>;
      if (target.kind === "host")
        return countLosses(
          inWords(() => fs.handle(untargeted, context), context),
          context,
        );
      return (await forward(
        {
          functionId: `sandbox::fs::${op}`,
          target,
          fields: fs.forwarded?.(untargeted) ?? rest,
          response: fs.forwardedResponse ?? response,
          codes: "fs",
        },
        context,
      )) as never;
    },
  });
}

const withLosses = (response: TSchema): TSchema => ({
  ...response,
  properties: {
    ...response["properties"],
    losses: Type.Optional(
      UInt64({ since: "0.4.0", description: "Changes that coder::undo cannot take back, if any." }),
    ),
  },
});

/** Returns an answer, in the profile `agent` with the number of changes that the journal does not keep. */
async function countLosses(
  answering: Promise<unknown>,
  { profile, fs, ...call }: ShellContext,
): Promise<never> {
  const answer = await answering;
  const losses = profile["fs.losses"] ? (fs.journal?.lossesOf(call) ?? 0) : 0;
  return (losses === 0 ? answer : { ...(answer as object), losses }) as never;
}

async function inWords<T>(act: () => T | Promise<T>, { profile }: ShellContext): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof Refusal ? inShellWords(error, profile) : error;
  }
}

/** Returns the deadline of a call that works before it answers. The caller must end it. */
export function shortDeadline({ deadline }: ShellContext): Deadline & Disposable {
  const short = deadlineIn(Math.min(maxMilliseconds, deadline.left), deadline.signal);
  return Object.assign(short, { [Symbol.dispose]: () => short.end() });
}

/**
 * Returns how a call names the paths that it finds: like the `requested` one, so absolute if that is. In a
 * scope they are absolute too, since its relative paths start at its root.
 */
export function foundPaths(jail: Jail, requested: string): (path: string) => string {
  const isAbsolutePath = jail.scope !== undefined || isAbsolute(requested);
  return isAbsolutePath ? (path) => jail.hostPath(path) : (path) => path;
}

/** Throws unless a call may reach or create something at `path`: the first check (shell §8.2). */
export function requirePath(jail: Jail, path: string): void {
  try {
    jail.admit(path, { mayBeMissing: true, parents: true })[Symbol.dispose]();
  } catch (error) {
    if (!(error instanceof Refusal && error.isBelowFile)) throw error;
  }
}
