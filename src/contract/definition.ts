import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { Keys } from "../config/file.ts";
import type { FoundConfig, Mode } from "../config/source.ts";
import type { ConfigStatus } from "../config/status.ts";
import type { Log } from "../log/log.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import type { Origin } from "./origin.ts";
import type { Measured, WrittenAnswer } from "./prepared-answer.ts";
import type { TreeChanges } from "./tree-changes.ts";
import type { TriggerDefinition, TriggerType } from "./trigger.ts";
import type { Rendered, Wording } from "./wording.ts";

/** An error as it is on the wire. */
export interface WireError {
  /** What the caller gets: one line of JSON, or prose where a family of functions has no code for it. */
  readonly text: string;
  /** The code in it, for the log. */
  readonly code: string | undefined;
}

/** How a call ended. */
export type HandledCall =
  | { readonly answer: unknown; readonly bytes: number }
  | { readonly error: WireError };

/** A call that has its outcome, which has not been sent yet. */
export interface FinishedCall {
  readonly definition: FunctionDefinition;
  /** Undefined where the payload is none. */
  readonly request: unknown;
  readonly context: Context;
  readonly outcome: HandledCall;
  readonly milliseconds: number;
}

/** How requests are read. */
export interface RequestRules {
  /** What becomes of a field that the function does not have. */
  readonly unknownFields: "ignore" | "refuse";
  /** Whether names of other tool sets, and values that stand for one of the right type, are taken for what they mean. */
  readonly isForgiving: boolean;
  /** Where paths lead, to find the one that was meant by a path in the form of another program. */
  readonly places: PathPlaces;
}

/** Where paths lead. */
export interface PathPlaces {
  /** The home folder of the user; undefined if it is not known. */
  readonly home: string | undefined;
  /** The folders that are served; `prefix` stands before their paths, such as `docs/`. */
  readonly roots: readonly { readonly prefix: string; readonly hostPath: string }[];
  /** Whether callers send host paths only. */
  readonly isAbsolute: boolean;
}

/** What all calls to one worker share, whatever its functions do. Each family of functions adds its own services. */
export interface Services {
  /** Longest that a call may take, in milliseconds. */
  readonly callMilliseconds: number;
  /** Most bytes of JSON that an answer may have, where the operator chooses that. */
  readonly maxAnswerBytes?: number;
  /** Admits a call before it is begun; `end` gets the bytes of its answer. Throws a refusal. Absent: every call is. */
  readonly quotas?: { admit(caller: string | undefined): { end(bytes: number): void } } | undefined;
  /** Whether answers in JSON name functions as the transport does; absent: by their ids. */
  readonly usesTransportNames?: boolean | undefined;
  /** How requests are read; absent: as they are sent. */
  readonly requestRules?: RequestRules | undefined;
  /** The services that a call has instead, where its payload limits what it may do. Throws a refusal. */
  narrow?(call: {
    readonly definition: FunctionDefinition;
    readonly payload: unknown;
    readonly request: unknown;
  }): object | undefined;
  /** Returns the names of a path, and of the place that it leads to now: calls with a name in common touch the same. */
  namesOf?(path: string): readonly string[];
  /** Gets every call when it has its outcome. It must not throw. */
  onFinished?(call: FinishedCall): void;
  /** Renders an error of this family for the wire; undefined for an unexpected one. */
  renderError(error: unknown): WireError | undefined;
}

/** What the log says is served. */
export interface Serves {
  /** Canonical host path of the folder that calls are confined to; `/` without one. */
  readonly base_path?: string;
  /** Of several folders: the name and canonical host path of each. */
  readonly roots?: string;
  /** Where the configuration stands. */
  readonly config: string;
}

/** The services of one worker, open until closed. */
export interface Runtime extends Services {
  readonly serves: Serves;
  /** What it calls functions of other workers for. */
  readonly triggers?: readonly TriggerType[];
  /** What becomes of the files that it serves, where readers in the same process can follow that. */
  readonly treeChanges?: TreeChanges;
  /** Most bytes of a file that one answer holds, where the operator chooses that. */
  readonly maxReadBytes?: number;
  /** Whether its functions take a flat envelope, those that have one. */
  readonly takesFlatEnvelopes?: boolean;
  /** How much it holds of what grows, now; always with the same keys. */
  readonly holds?: Readonly<Record<string, number>>;
  /** Removes what killed processes left behind; returns the number of files. */
  sweep?(): Promise<number>;
  /** Ends what calls wait for, so that they are answered before the worker stops. */
  interrupt?(): Promise<void>;
  /** Ends threads, and releases folders. */
  close(): Promise<void>;
}

/** What one call works with, besides its request and its services. */
export interface CallContext
  extends Pick<Origin, "caller" | "bus" | "showsImages" | "onOutput" | "sentence"> {
  /** The function that was called. */
  readonly functionId: string;
  /** Stands for this call, also in a copy of the context with another deadline. */
  readonly call?: object;
  /** When this call has to be answered. */
  readonly deadline: Deadline;
  /** Most bytes of JSON that the answer may have. */
  readonly maxAnswerBytes: number;
  /** Runs one entry of a batch, which stands alone: the other entries go on when it fails (coder §4). */
  attempt<T>(entry: () => T | Promise<T>): Promise<Attempt<T>>;
}

/** What one call works with, besides its request. */
export type Context<S extends Services = Services> = S & CallContext;

/** How an entry of a batch ended. */
export type Attempt<T> = { readonly value: T } | { readonly error: WireError };

/** A payload worth showing, for the reference pages; it validates. */
export interface Example {
  readonly title: string;
  readonly request: Readonly<Record<string, unknown>>;
}

/** An answer may hold readonly parts. */
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
 * Where a function comes from: a published reference, which never changes, such as `coder 0.2.0`; or this project, and
 * the version that brought it. A field that a published function got later has `since` in its schema.
 */
export type Provenance =
  | { readonly publishedIn: string; readonly since?: never }
  | { readonly since: string; readonly publishedIn?: never };

/**
 * What a call does with the target of a path. `read`: reads a file; `list`: lists a folder, or what is below it; `write`:
 * changes an existing file; `create`: makes it, where nothing is; `replace`: makes it, or replaces a file; `move`: moves
 * it away, a folder with everything inside, and fails where nothing is; `copy`: reads a file, a link itself, or a folder
 * with everything inside; `change-mode`: sets the mode of a file or folder; `make-folder`: makes a folder, where none is. With `-tree`: everything in a folder too, or the
 * folders above it.
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

/** A field of a request that is a path. */
export interface RequestPath {
  /** Where it stands: a JSON pointer, in which `*` is each item of an array. */
  readonly at: string;
  readonly access: PathAccess;
  /** The fields beside it with which a call has this access, where it depends on them. */
  readonly when?: Readonly<Record<string, unknown>>;
  /** What the path is for, where the field has several: its name among them. */
  readonly part?: string;
  /** The value of the field, where a path is a part of a longer text. */
  render?(path: string, others: OtherPaths): string;
}

/** What the other paths of a call are that has several. */
export interface OtherPaths {
  /** A file that is there. */
  readonly there: string;
  /** A name under which nothing is. */
  readonly free: string;
}

/** One function as it is on the wire. */
export type FunctionDefinition<
  Request extends TSchema = TSchema,
  Response extends TSchema = TSchema,
  S extends Services = Services,
> = Provenance & FunctionContract<Request, Response, S>;

interface FunctionContract<Request extends TSchema, Response extends TSchema, S extends Services> {
  /** Name on the bus; the file it is defined in has the same name. */
  readonly id: string;
  readonly description: string;
  /** The same in half a sentence, for tables. */
  readonly summary?: string;
  /**
   * What models get instead, who read it on every turn: the description of the function and of all its fields but
   * those that came later, which have theirs in their schemas.
   */
  readonly brief?: string;
  readonly request: Request;
  /** The schema of requests that the bus and the reference show, where it is not `request`. */
  readonly published?: TSchema;
  readonly response: Response;
  readonly examples: readonly Example[];
  /** Whether a call can change the tree. */
  readonly effect: "reads" | "writes";
  /** The fields of a request that are paths, once for each access: what the suites try to abuse them for follows. */
  readonly paths: readonly RequestPath[];
  /** Whether it is offered over MCP with `--tools all` only: what it does is rarely needed, or another tool does it too. */
  readonly isRare?: boolean;
  /** Whether its calls neither read nor change files, so that they wait for no other call of their session. */
  readonly touchesNoFiles?: boolean;
  /** Whether a scope limits its calls, though the jail judges none of its fields: they choose what they know by it. */
  readonly takesScope?: boolean;
  /** Whether a call that changes the tree only adds to it, and cannot replace or remove what is there. */
  readonly isAdditive?: boolean;
  /** Whether the same call, made again, changes nothing more. Every call that only reads is so. */
  readonly isIdempotent?: boolean;
  /** Whether a call may compute for long: it begins when its caller has its turn. */
  readonly isLong?: boolean;
  /** Whether this call walks the tree, where only some do: it is long, and what it answers depends on the whole tree. */
  walksTree?(request: Static<Request>): boolean;
  /** Whether a call can reach more than what the worker serves: a program may use the network. */
  readonly isOpenWorld?: boolean;
  /** Whether no call works without the bus, as its content goes over a channel. */
  readonly needsBus?: boolean;
  /** The fields that work on the bus only. */
  readonly busFields?: readonly string[];
  /** The payload as a request, where that is not what `validate` makes of it. Throws what `renderError` can render. */
  parse?(payload: unknown): Static<Request>;
  /** The name of the program that a call runs, without its arguments: for the audit trail. Undefined for no command. */
  program?(request: Static<Request>): string | undefined;
  /** Whether one entry of `files` may be sent without the array around it, where the profile takes that. */
  readonly hasFlatEnvelope?: boolean;
  /** The payload in the form of `request`, where callers may send another one. What it does not know stays as it is. */
  normalize?(payload: unknown, context: Context<S>): unknown;
  /**
   * The answer as text that a model reads well, for transports that show text. Without it: the JSON. `request` is what was
   * sent, without the defaults.
   */
  render?(answer: Static<Response>, wording: Wording, request: Partial<Static<Request>>): Rendered;
  /**
   * An upper estimate of the answer's bytes, made before the work. Throws what `handle` would throw.
   * Without it the answer is taken to be small.
   */
  answerBytes?(request: Static<Request>, context: Context<S>): number;
  /** Does the work. Throws a `Refusal` for the whole call. */
  handle(request: Static<Request>, context: Context<S>): Handled<Response> | Promise<Handled<Response>>;
}

/**
 * The `defineFunction` of a family: it ties a handler's argument and answer to its schemas, and its context to the
 * family's services. The list of functions need not know them.
 */
export const definerFor =
  <S extends Services>() =>
  <Request extends TSchema, Response extends TSchema>(
    definition: FunctionDefinition<Request, Response, S>,
  ): FunctionDefinition =>
    definition as unknown as FunctionDefinition;

/** What a worker is opened with. */
export interface OpenOptions {
  readonly config: FoundConfig;
  /** Host paths of the files that decide the configuration, now or at the next start: no call may change them. */
  readonly configFiles: readonly string[];
  readonly mode: Mode;
  /** Nothing may be written, not even a file of our own for a moment. */
  readonly readOnly: boolean;
  /** `--base-path`, which wins over the configured folder. */
  readonly basePath: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly reloading?: Reloading;
}

/** How the configuration came to be. */
export interface Reloading {
  readonly status: ConfigStatus;
  /** The one that is to be replaced; absent at the start. */
  readonly config?: Keys | undefined;
}

/** One of the workers that this program can be. */
export interface WorkerDefinition {
  /** What it is called on the bus; its functions are `name::…`. */
  readonly name: string;
  readonly description: string;
  /** In the order of the published reference. */
  readonly functions: readonly FunctionDefinition[];
  readonly triggers?: readonly TriggerDefinition[];
  /** Every key of its configuration, with its default. */
  readonly configSchema: TObject;
  /** Whether it can be opened again, with another configuration, while it serves. */
  readonly isReloadable?: boolean;
  /** The defaults of later request fields, by field and profile, where there are several profiles. */
  readonly profiles?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly errors: {
    /** Paragraphs about the form of an error. */
    readonly introduction: readonly string[];
    /** What each code means to a caller. */
    readonly meanings: Readonly<Record<string, string>>;
  };
  /** Opens what its calls work with. Throws an Error of one sentence that keeps the worker from starting. */
  open(options: OpenOptions): Promise<Runtime>;
}
