/** The request of `shell::exec` and `shell::exec_bg`, and the first steps of both. */
import { type Static, type TObject, Type } from "@sinclair/typebox";
import type { Steps } from "../base/scheduling/time-slice.ts";
import { Nullable, UInt64 } from "../base/schema/fragments.ts";
import { Mismatch, validateInSteps } from "../base/schema/validate.ts";
import { FsScope } from "../calls/contract/fs-scope.ts";
import { optionFields } from "./command-options.ts";
import type { ShellConfig } from "./config.ts";
import type { ShellContext } from "./define.ts";
import { refusePlainly } from "./programs/plain-refusal.ts";
import { maxArgumentsBytes, type StartProblem } from "./programs/start-problems.ts";
import { type Argv, maxArgs, parseArgv, readCommandLine } from "./programs/words.ts";
import { Target } from "./target.ts";

/** The descriptions of the fields in the published reference, which differ between the two functions. */
interface Descriptions {
  readonly command: string;
  readonly args: string;
  readonly timeout: string;
  readonly target: string;
}

/** Returns the fields of a command, with these descriptions. */
export const commandFields = ({ command, args, timeout, target }: Descriptions) => ({
  args: Nullable(Type.Array(Type.String()), { default: null, description: args }),
  command: Type.String({ description: command }),
  target: Target(target),
  timeout_ms: Nullable(UInt64(), { default: null, description: timeout }),
  fs_scope: Type.Optional(
    Type.Object(FsScope.properties, {
      since: "0.4.0",
      description:
        "The scope of a session of iii: the command starts in `root`, and `cwd` lies in the scope. It limits nothing else of a command.",
    }),
  ),
  ...optionFields,
});

export type ShellCommand = Static<TObject<ReturnType<typeof commandFields>>>;

const targetAndOptions = Type.Object({ target: Target(), ...optionFields });

/**
 * Parses a payload as a command, in steps (shell §6.2). It is less strict about `timeout_ms` than the schema.
 * Its plain refusals have the phrases that clients match; `refuseStart` refuses a program that cannot start.
 */
export function* parseCommand(
  payload: unknown,
  refuseStart: (problem: StartProblem) => Error,
): Steps<ShellCommand> {
  if (!isObject(payload)) throw refusePlainly.badPayload("", "is not an object");
  if (!Object.hasOwn(payload, "command")) throw refusePlainly.missingCommand();
  const { command, args = null, timeout_ms: timeout } = payload;
  if (typeof command !== "string") throw refusePlainly.commandNotAString(command);
  if (command.length > maxCommandUnits) throw refusePlainly.longCommand(command.length, maxCommandUnits);
  return {
    command: requireText("command", command),
    args: args === null ? null : yield* parseArgs(args, refuseStart),
    timeout_ms: isMilliseconds(timeout) ? timeout : null,
    ...(yield* parsePlainly(targetAndOptions, payload)),
  };
}

const isObject = (payload: unknown): payload is Record<string, unknown> =>
  typeof payload === "object" && payload !== null && !Array.isArray(payload);

/** Validates a payload by `schema`, in steps. Throws a plain refusal, as all functions of commands do. */
export function* parsePlainly<Request extends TObject>(
  schema: Request,
  payload: unknown,
): Steps<Static<Request>> {
  try {
    return yield* validateInSteps(schema, payload, { unknownKeys: "ignore" });
  } catch (error) {
    if (error instanceof Mismatch) throw refusePlainly.badPayload(error.field, error.problem);
    throw error;
  }
}

/** Maximum UTF-16 units of a command line, in any profile: quotes make it longer than its words. */
const maxCommandUnits = 512 * 1024;

/** Arguments that are checked in one step. */
const argsPerStep = 1024;

function* parseArgs(args: unknown, refuseStart: (problem: StartProblem) => Error): Steps<string[]> {
  if (!Array.isArray(args)) throw refusePlainly.argsNotAnArray();
  if (args.length > maxArgs) throw refusePlainly.tooManyArgs(args.length, maxArgs);
  const texts: string[] = [];
  let total = 0;
  for (const [index, arg] of args.entries()) {
    if (typeof arg !== "string") throw refusePlainly.argNotAString(index, arg);
    // No text has fewer bytes than UTF-16 units.
    total += arg.length + 1;
    if (total > maxArgumentsBytes) throw refuseStart("too-long");
    texts.push(requireText(`args[${index}]`, arg));
    if (texts.length % argsPerStep === 0) yield;
  }
  return texts;
}

function requireText(field: string, text: string): string {
  if (text.isWellFormed()) return text;
  throw refusePlainly.illFormed(field);
}

/**
 * Returns whether a timeout is used. One beyond 64 bits counts as absent; any other is cut to the configured
 * limit.
 */
const isMilliseconds = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 64;

/** Returns the milliseconds that a command may run (shell §6.3). */
export const resolveTimeout = (
  { timeout_ms: timeout }: Pick<ShellCommand, "timeout_ms">,
  config: Pick<ShellConfig, "default_timeout_ms" | "max_timeout_ms">,
): number => Math.min(timeout ?? config.default_timeout_ms, config.max_timeout_ms);

/** Returns the program of a command, unresolved, or `undefined` for a line that is not a command. */
export function programOf(command: Pick<ShellCommand, "command" | "args">): string | undefined {
  try {
    return argvOf(command)[0];
  } catch {
    return undefined;
  }
}

/** Returns the line that holds the words of a command, unless `args` does. */
export const commandLineOf = ({
  command,
  args,
}: Pick<ShellCommand, "command" | "args">): string | undefined => (args === null ? command : undefined);

/**
 * Throws a plain refusal for a command of several lines in the profile `agent`: one program would get the
 * words of all.
 */
export function requireOneLine(
  command: Pick<ShellCommand, "command" | "args">,
  { profile, config: { allowlist } }: Pick<ShellContext, "profile" | "config">,
): void {
  const line = commandLineOf(command);
  if (!profile["exec.one_line"] || line === undefined || !readCommandLine(line).hasBreak) return;
  const isAllowed = (name: string) => allowlist.length === 0 || allowlist.includes(name);
  throw refusePlainly.severalLines(["sh", "bash"].find(isAllowed));
}

/** Returns the argument vector of a command. Throws a plain refusal. */
export const argvOf = ({ command, args }: Pick<ShellCommand, "command" | "args">): Argv =>
  parseArgv(command, args);
