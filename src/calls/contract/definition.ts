import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { Log } from "../../base/log/log.ts";
import type { Deadline } from "../../base/scheduling/deadline.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { Keys } from "../../config/file.ts";
import type { FoundConfig, Mode } from "../../config/source.ts";
import type { ConfigStatus } from "../../config/status.ts";
import type { ApprovalMode, Approvals } from "../approval/approvals.ts";
import type { CallStatus } from "./call-status.ts";
import type { Origin } from "./origin.ts";
import type { Measured, WrittenAnswer } from "./prepared-answer.ts";
import type { TreeChanges } from "./tree-changes.ts";
import type { TriggerDefinition, TriggerType } from "./trigger.ts";
import type { Rendered, Wording } from "./wording.ts";

/** An error in its form on the wire. */
export interface WireError {
  /**
   * The text that the caller gets: one line of JSON, or prose if a family of functions has no code for it.
   */
  readonly text: string;
  /** The code for the log and the audit trail, which is also in the text unless that is prose. */
  readonly code: string | undefined;
  readonly isProse?: true;
}

/** The outcome of a call. */
export type HandledCall =
  | { readonly answer: unknown; readonly bytes: number }
  | { readonly error: WireError };

/** A call with its outcome, which has not been sent yet. */
export interface FinishedCall {
  readonly definition: FunctionDefinition;
  /** The request, or `undefined` if the payload is invalid. */
  readonly request: unknown;
  readonly context: Context;
  readonly status: CallStatus;
  readonly milliseconds: number;
}

/** The rules for reading requests. */
export interface RequestRules {
  /** The treatment of a field that the function does not have. */
  readonly unknownFields: "ignore" | "refuse";
  /** Whether to accept names of other tool sets, and values of a wrong type with a clear meaning. */
  readonly isForgiving: boolean;
  /**
   * The folders that paths lead to, for guessing the intended path from one in the form of another program.
   */
  readonly places: PathPlaces;
}

/** The folders that paths lead to. */
export interface PathPlaces {
  /** The home folder of the user, `undefined` if it is not known. */
  readonly home: string | undefined;
  /** The folders that are served. `prefix` precedes their paths, such as `docs/`. */
  readonly roots: readonly { readonly prefix: string; readonly hostPath: string }[];
  /** Whether callers send host paths only. */
  readonly isAbsolute: boolean;
}

/**
 * The services that all calls to one worker share, whatever its functions do. Each family of functions adds
 * its own.
 */
export interface Services {
  /** Maximum duration of a call, in milliseconds: with several families, of any. */
  readonly callMilliseconds: number;
  /** Maximum bytes of JSON in an answer, if configured. */
  readonly maxAnswerBytes?: number;
  /**
   * Admits a call before it begins; `end` gets the size of its answer in bytes. Throws a refusal. If absent,
   * every call is admitted.
   */
  readonly quotas?: { admit(caller: string | undefined): { end(bytes: number): void } } | undefined;
  /** Whether answers in JSON name functions like the transport does. If absent, they use ids. */
  readonly usesTransportNames?: boolean | undefined;
  /** The rules for reading requests. If absent, payloads are taken literally. */
  readonly requestRules?: RequestRules | undefined;
  /** Returns the services of the family that a function belongs to. If absent, there is one family. */
  familyOf?(definition: FunctionDefinition): Services;
  /** Returns the services that replace these for a call whose payload limits its rights. Throws a refusal. */
  narrow?(call: {
    readonly definition: FunctionDefinition;
    readonly payload: unknown;
    readonly request: unknown;
  }): object | undefined;
  /** The approvals that calls wait for. If absent, none does. */
  readonly approvals?: Approvals | undefined;
  /** Returns the paths, from the base, that decide where a path leads. */
  dependenciesOf?(path: string): readonly string[];
  /**
   * Prepares for a call that writes. Returns `undefined` if nothing has to be awaited. It must not throw, nor
   * reject.
   */
  prepareWriting?(): Promise<void> | undefined;
  /** Called for every call once it has its outcome. It must not throw. */
  onFinished?(call: FinishedCall): void;
  /** Renders an error of this family for the wire. Returns `undefined` for an unexpected one. */
  renderError(error: unknown, call?: FailedCall): WireError | undefined;
}

/** The served folders, as the log names them. */
export interface Serves {
  /** The canonical host path of the folder that calls are confined to; `/` without one. */
  readonly base_path?: string;
  /** The names and canonical host paths of several folders. */
  readonly roots?: string;
  /** The source of the configuration. */
  readonly config: string;
}

/** The services of one worker, open until closed. */
export interface Runtime extends Services {
  readonly serves: Serves;
  /** The trigger types whose events it reports by calling functions of other workers. */
  readonly triggers?: readonly TriggerType[];
  /** The changes of the files that it serves, for readers in the same process. */
  readonly treeChanges?: TreeChanges;
  /** Whether changes are recorded, so that they can be undone. */
  readonly keepsJournal?: boolean;
  /** Returns the names and host paths of the roots of each other journal whose roots overlap with these. */
  findOtherJournals?(): readonly (readonly { readonly name: string; readonly hostPath: string }[])[];
  /** Describes the checkpoints of others to a new session, if any. */
  describeOthers?(): string | undefined;
  /** Lists the roots for a new session, if there are several. */
  listRoots?(): string | undefined;
  /** The rules of commands, for clients that are shown instructions. */
  readonly commandRules?: readonly string[];
  /** The root that commands start in, if there are several. */
  readonly startRoot?: string | undefined;
  /** The port of the page for people, if one is to be served. */
  readonly reviewPort?: number;
  /** Maximum bytes of a file in one answer, if configured. */
  readonly maxReadBytes?: number;
  /** Whether its functions accept a flat envelope, those that have one. */
  readonly takesFlatEnvelopes?: boolean;
  /** The current sizes of everything that grows, always with the same keys. */
  readonly holds?: Readonly<Record<string, number>>;
  /** The sentences about transactions that killed processes left, and that the start has finished, or not. */
  readonly recovered?: readonly string[];
  /** Removes the leftovers of killed processes. Returns the number of files. */
  sweep?(): Promise<number>;
  /** Prepares first calls while a client is idle, until such a call comes. Never rejects. */
  warmUp?(): Promise<void>;
  /** Ends the waits of calls, so that they are answered before the worker stops. */
  interrupt?(): Promise<void>;
  /** Ends threads, and releases folders. */
  close(): Promise<void>;
}

/** The context of one call, besides its request and its services. */
export interface CallContext
  extends Pick<
    Origin,
    "caller" | "author" | "bus" | "began" | "showsImages" | "onOutput" | "onFiles" | "sentence" | "promptUser"
  > {
  /** The id of the called function. */
  readonly functionId: string;
  /** The caller's label for the changes of the call. */
  readonly label?: string | undefined;
  /** The operations that the request sends without their kind, each with the inferred one. */
  readonly inferred?: readonly string[];
  /** Identifies this call, even in a copy of the context with another deadline. */
  readonly call?: object;
  /** The deadline for answering this call. */
  readonly deadline: Deadline;
  /** Maximum bytes of JSON in the answer. */
  readonly maxAnswerBytes: number;
  /** Runs one entry of a batch, which is independent: the other entries continue if it fails (coder §4). */
  attempt<T>(entry: () => T | Promise<T>): Promise<Attempt<T>>;
}

/** The context of one call, besides its request. */
export type Context<S extends Services = Services> = S & CallContext;

/** The outcome of an entry of a batch. */
export type Attempt<T> = { readonly value: T } | { readonly error: WireError };

/** A payload worth showing on the reference pages. It validates. */
export interface Example {
  readonly title: string;
  readonly request: Readonly<Record<string, unknown>>;
}

/** An answer, which may have readonly parts. */
type Answer<Response extends TSchema> = ReadonlyParts<Static<Response>>;

type Handled<Response extends TSchema> =
  | Answer<Response>
  | Measured<Answer<Response>>
  | WrittenAnswer<Answer<Response>>;

type ReadonlyParts<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyParts<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: ReadonlyParts<T[Key]> }
    : T;

/**
 * The origin of a function: a published reference, which never changes, such as `coder 0.2.0`; or this
 * project, with the version that added it. A field that a published function got later has `since` in its
 * schema.
 */
export type Provenance =
  | { readonly publishedIn: string; readonly since?: never }
  | { readonly since: string; readonly publishedIn?: never };

/**
 * The effect of a call on the target of a path. `read`: reads a file; `list`: lists a folder, or everything
 * below it; `write`: changes an existing file; `create`: creates it if it does not exist; `replace`: creates
 * it, or replaces a file; `move`: moves it away, a folder with everything inside, and fails if it does not
 * exist; `copy`: reads a file, a link itself, or a folder with everything inside; `change-mode`: sets the
 * mode of a file or folder; `make-folder`: creates a folder if none exists. With `-tree`: everything in a
 * folder too, or the folders above it.
 */
export type PathAccess =
  | "read"
  | "list"
  | "write"
  | "write-tree"
  | "create"
  | "create-tree"
  | "replace"
  | "remove"
  | "remove-tree"
  | "move"
  | "copy"
  | "change-mode"
  | "make-folder"
  | "make-folder-tree";

/** The call that an error ends, for advice that the call can follow. */
export interface FailedCall {
  readonly functionId: string;
  /** Returns whether the call would make an entry at a path that it sent. */
  makes(path: string): boolean;
}

/** A field of a request that holds a path. */
export interface RequestPath {
  /** A JSON pointer to the field, with `*` for each item of an array. */
  readonly at: string;
  readonly access: PathAccess;
  /** The values of other fields that give a call this access, if it depends on them. */
  readonly when?: Readonly<Record<string, unknown>>;
  /** The name of this path's role, if the field has several. */
  readonly part?: string;
  /** Renders the value of a field whose text contains a path among other things. */
  render?(path: string, others: OtherPaths): string;
}

/** The other paths of a call that has several. */
export interface OtherPaths {
  /** The path of an existing file. */
  readonly there: string;
  /** A name that is free. */
  readonly free: string;
}

/** One function in its form on the wire. */
export type FunctionDefinition<
  Request extends TSchema = TSchema,
  Response extends TSchema = TSchema,
  S extends Services = Services,
> = Provenance & FunctionContract<Request, Response, S>;

interface FunctionContract<Request extends TSchema, Response extends TSchema, S extends Services> {
  /** The name on the bus; the file that defines the function has the same name. */
  readonly id: string;
  readonly description: string;
  /** The description in half a sentence, for tables. */
  readonly summary?: string;
  /**
   * The text for models, which read it on every turn: it replaces the description of the function and of all
   * its fields except later ones, which have theirs in their schemas.
   */
  readonly brief?: string;
  readonly request: Request;
  /** The schema of requests that the bus and the reference show, if it differs from `request`. */
  readonly published?: TSchema;
  readonly response: Response;
  readonly examples: readonly Example[];
  /** Whether a call can change the tree. */
  readonly effect: "reads" | "writes";
  /**
   * The fields of a request that hold paths, one entry per access. The suites derive their attacks from it.
   */
  readonly paths: readonly RequestPath[];
  /**
   * Whether it is offered over MCP only with `--tools all`, since it is rarely needed, or another tool can do
   * the same.
   */
  readonly isRare?: boolean;
  /**
   * Whether its calls neither read nor change files, so that they wait for no other call of their session.
   */
  readonly touchesNoFiles?: boolean;
  /**
   * Whether a scope limits its calls although none of its fields go through the jail: they filter their
   * results by it.
   */
  readonly takesScope?: boolean;
  /** Whether a call that changes the tree only adds to it, and cannot replace or remove anything. */
  readonly isAdditive?: boolean;
  /** Whether repeating a call has no further effect, as for every call that only reads. */
  readonly isIdempotent?: boolean;
  /** Whether a call may compute for long, so that it waits for its caller's turn. */
  readonly isLong?: boolean;
  /**
   * Returns whether this call walks the tree, if only some do: it is then long, and its answer depends on the
   * whole tree.
   */
  walksTree?(request: Static<Request>): boolean;
  /** Whether a call can reach beyond the worker's folders: a program may use the network. */
  readonly isOpenWorld?: boolean;
  /** Whether every call needs the bus, because content goes over a channel. */
  readonly needsBus?: boolean;
  /** The fields that work only on the bus. */
  readonly busFields?: readonly string[];
  /** Parses the payload, in steps, instead of `validate`. Throws errors that `renderError` can render. */
  parse?(payload: unknown): Steps<Static<Request>>;
  /**
   * Returns the name of the program that a call runs, without its arguments, for the audit trail, or
   * `undefined` if there is no command.
   */
  program?(request: Static<Request>): string | undefined;
  /** Whether one entry of `files` may be sent without the array around it, if the profile accepts that. */
  readonly hasFlatEnvelope?: boolean;
  /** Whether a request has operations whose kind may be left out, if the profile accepts that. */
  readonly infersOperations?: boolean;
  /**
   * Converts the payload to the form of `request`, in steps, if callers may send a different one. Unknown
   * parts stay unchanged.
   */
  normalize?(payload: unknown, context: Context<S>): Steps<unknown>;
  /**
   * Renders the answer as text that a model reads well, for transports that show text. If absent, they show
   * the JSON. `request` is the sent payload, without defaults. It works in steps if an answer can have
   * thousands of entries.
   */
  render?(
    answer: Static<Response>,
    wording: Wording,
    request: Partial<Static<Request>>,
  ): Rendered | Steps<Rendered>;
  /** Returns whether the answer reports a failure, which MCP marks. */
  isFailure?(answer: Static<Response>): boolean;
  /**
   * Estimates the maximum size of the answer in bytes, before the work. Throws like `handle` would. If
   * absent, the answer counts as small.
   */
  answerBytes?(request: Static<Request>, context: Context<S>): number;
  /** Does the work. Throws a `Refusal` for the whole call. */
  handle(request: Static<Request>, context: Context<S>): Handled<Response> | Promise<Handled<Response>>;
}

/**
 * Returns the `defineFunction` of a family. It ties a handler's argument and answer to its schemas, and its
 * context to the family's services; the list of functions need not know them.
 */
export const definerFor =
  <S extends Services>() =>
  <Request extends TSchema, Response extends TSchema>(
    definition: FunctionDefinition<Request, Response, S>,
  ): FunctionDefinition =>
    definition as unknown as FunctionDefinition;

/** The options for opening a worker. */
export interface OpenOptions {
  readonly config: FoundConfig;
  /**
   * Host paths of the files that determine the configuration, now or at the next start. No call may change
   * them.
   */
  readonly configFiles: readonly string[];
  readonly mode: Mode;
  /** Whether all writing is forbidden, even that of a short-lived file. */
  readonly readOnly: boolean;
  /** Whether it is opened for a single call that only reads, so that it makes no file for later ones. */
  readonly onlyReads?: boolean | undefined;
  /** The value of `--base-path`, which wins over the configured folder. */
  readonly basePath: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly reloading?: Reloading;
  /** `--commands`: commands are offered too, of programs of `--allow` besides those of the configuration. */
  readonly commands?: Commands | undefined;
  /** `--approval`: the calls that wait for approval, whatever the configuration says. */
  readonly approval?: "none" | ApprovalMode | undefined;
}

/** The options of the command line about commands. */
export interface Commands {
  /** The names of the allowed programs. */
  readonly allow: readonly string[];
}

/** The state of a configuration that can be reloaded. */
export interface Reloading {
  readonly status: ConfigStatus;
  /** The configuration that is to be replaced; absent at the start. */
  readonly config?: Keys | undefined;
}

/** One of the workers that this program can be. */
export interface WorkerDefinition {
  /** The name on the bus; its functions are `name::…`. */
  readonly name: string;
  readonly description: string;
  /** The functions, in the order of the published reference. */
  readonly functions: readonly FunctionDefinition[];
  readonly triggers?: readonly TriggerDefinition[];
  /** Every key of its configuration, with its default. */
  readonly configSchema: TObject;
  /** Whether it can be reopened with another configuration while it serves. */
  readonly isReloadable?: boolean;
  /** The defaults of later request fields, by field and profile, if there are several profiles. */
  readonly profiles?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly errors: {
    /** Paragraphs about the form of an error. */
    readonly introduction: readonly string[];
    /** The meaning of each code to a caller. */
    readonly meanings: Readonly<Record<string, string>>;
  };
  /** Opens the services of its calls. Throws an Error of one sentence that keeps the worker from starting. */
  open(options: OpenOptions): Promise<Runtime>;
}
