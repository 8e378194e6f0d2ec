/** The fields of a command that came after shell 0.3.5, and their effect on its start. */
import { type Static, Type } from "@sinclair/typebox";
import { Refusal } from "../base/errors.ts";
import { UInt64 } from "../base/schema/fragments.ts";
import type { Folder, Jail } from "../filesystem/jail/folder.ts";
import { namedVariables } from "./command-environment.ts";
import type { BegunCommand } from "./confinement.ts";
import type { ShellContext } from "./define.ts";
import { isSettable } from "./programs/environment.ts";
import { refusePlainly } from "./programs/plain-refusal.ts";
import { isPlainVariable, plainVariables } from "./programs/plain-variables.ts";
import type { SpawnOptions } from "./programs/start.ts";
import { maxArgs } from "./programs/words.ts";
import { refuseShell, type StartRoots } from "./shell-errors.ts";

const since = "0.4.0";

/** The options of commands on the host. Commands in a sandbox have none of them. */
export const optionFields = {
  cwd: Type.Optional(
    Type.String({
      since,
      description: "Folder to run in; default the served one.",
    }),
  ),
  env: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      since,
      description: "Variables that the user allows; a refusal lists them.",
    }),
  ),
  stdin: Type.Optional(Type.String({ since, description: "Standard input." })),
  output: Type.Optional(
    Type.Literal("channel", {
      since,
      description:
        "Answer once the command has started, with a channel of the bus in content, which carries both outputs as they are written, then a message with the exit code.",
    }),
  ),
  snapshot: Type.Optional(
    Type.Array(Type.String(), {
      since,
      isRare: true,
      description:
        "Globs, as in coder::search, of the files to hold before the command starts, so that coder::undo can undo what it changes in them. Default: those of the configuration.",
    }),
  ),
  max_output_bytes: Type.Optional(
    UInt64({
      since,
      description: "Bytes kept of each output: half of its beginning, half of its end.",
    }),
  ),
};

const CommandOptions = Type.Object(optionFields);
export type CommandOptions = Static<typeof CommandOptions>;

/** The options of a start, and the resources held for it until the command has started. */
export interface HeldOptions extends Disposable, Pick<BegunCommand, "findUnguarded"> {
  readonly options: SpawnOptions;
  /** The host path of the folder that the command starts in, if that is served. */
  readonly at: string | undefined;
}

/** Maximum variables of a call, which a program gets in one step: as many as its arguments. */
const maxVariables = maxArgs;

/** Throws a `Refusal` for a folder, and a plain one for a variable, or for too many. */
export function holdOptions(
  { cwd, env, stdin, max_output_bytes }: CommandOptions,
  { spawnOptions, startFolder, beginCommand, fs, config, profile, onOutput }: ShellContext,
): HeldOptions {
  const most = max_output_bytes ?? profile["exec.max_output_bytes"];
  const listed = profile.listed_variables ? namedVariables(config) : undefined;
  const variables = Object.entries(env ?? {});
  if (variables.length > maxVariables) throw refusePlainly.tooManyVariables(variables.length, maxVariables);
  for (const [name, value] of variables) requireSettable(name, value, listed);
  const named = cwd ?? (fs.jail.scope ? "." : startFolder);
  const folder = named === undefined ? undefined : admitStart(named, fs.jail, startFolder);
  const { environment, watch } = spawnOptions;
  const { launcher, findUnguarded } = beginCommand();
  const kept =
    most === undefined
      ? { maxOutputBytes: spawnOptions.maxOutputBytes }
      : {
          maxOutputBytes: Math.min(most, config.max_output_bytes),
          keepsTail: true,
          shownBytes: max_output_bytes === undefined ? profile["exec.cut_output_bytes"] : undefined,
        };
  return {
    options: {
      ...kept,
      launcher,
      watch,
      environment: { ...environment, ...env },
      get folder() {
        return folder === undefined ? spawnOptions.folder : pathOf(folder);
      },
      stdin,
      live: onOutput,
    },
    at: folder && fs.jail.hostPath(folder.path),
    findUnguarded,
    [Symbol.dispose]: () => folder?.[Symbol.dispose](),
  };
}

/**
 * Admits the folder that a command starts in. Throws a `Refusal` if the base or the root around it is gone,
 * and for the folder above several roots.
 */
function admitStart(path: string, jail: ShellContext["fs"]["jail"], byDefault: string | undefined): Folder {
  const names = jail.roots.map(({ name }) => name);
  const folder = jail.hasTop ? admitInRoot(path, jail, { names, byDefault }) : admitExisting(path, jail);
  try {
    const gone = jail.goneAt(folder.path);
    if (gone !== undefined) throw gone;
    if (jail.hasTop && folder.path === "") throw refuseShell.topFolder(path, { names, byDefault });
    return folder;
  } catch (error) {
    folder[Symbol.dispose]();
    throw error;
  }
}

/** Admits a folder. The refusal of a missing one names no function, since another worker may have it. */
function admitExisting(path: string, jail: Pick<Jail, "admitFolder">): Folder {
  try {
    return jail.admitFolder(path);
  } catch (error) {
    const isAbsent = error instanceof Refusal && (error.reason === "missing" || error.reason === "denied");
    throw isAbsent ? refuseShell.noFolder(error, path) : error;
  }
}

/** Admits a folder in one of several roots, which the refusal of a path in none of them names. */
function admitInRoot(
  path: string,
  jail: Pick<Jail, "admitFolder">,
  { names, byDefault }: StartRoots,
): Folder {
  try {
    return admitExisting(path, jail);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const [first = ""] = path.replace(/^(?:\.\/+)+/, "").split("/");
    const isInRoot = names.includes(first);
    const isOfRoots = error.reason === "outside" || (error.reason === "missing" && !isInRoot);
    throw isOfRoots ? refuseShell.inNoRoot(error, path, { isInRoot, names, byDefault }) : error;
  }
}

/** Throws a plain refusal if the command is for another worker, which has none of these fields. */
export function requireNoOptions(options: CommandOptions): void {
  const name = Object.keys(optionFields).find(
    (field) => options[field as keyof CommandOptions] !== undefined,
  );
  if (name !== undefined) throw refusePlainly.hostOnly(name);
}

/**
 * Throws a plain refusal for a variable that callers may not set. `listed` contains the names that they may
 * set in addition to the listed ones; `undefined` allows every name that runs no code.
 */
function requireSettable(name: string, value: string, listed: readonly string[] | undefined): void {
  const isPlain = listed !== undefined && isPlainVariable(name);
  if (!isPlain && !isSettable(name)) throw refusePlainly.notSettable(name);
  if (listed !== undefined && !isPlain && !listed.includes(name))
    throw refusePlainly.notListed(name, [plainVariables, ...listed.filter(isSettable)].join(", "));
  if (value.includes("\0") || !value.isWellFormed())
    throw refusePlainly.badPayload(`env.${name}`, "is no text");
}

/** Returns a path of the folder. While it is held open, no other folder can replace it. */
const pathOf = (folder: Folder): string =>
  folder.descriptor === undefined ? folder.enter(() => process.cwd()) : `/proc/self/fd/${folder.descriptor}`;
