/** Refuses a start if resources, or a folder for temporary files, are missing. */
import { shortages } from "../base/errors.ts";
import { shortageIn } from "../base/shortage.ts";
import { ConfigError } from "../config/file.ts";

const remedies: Readonly<Record<string, string>> = {
  EMFILE: "raise its limit (ulimit -n, or LimitNOFILE= of a service) to 1024 or more",
  ENFILE: "raise the limit of the system (fs.file-max), or end programs that hold many files open",
  ENOMEM: "free some, or raise the limit of memory",
  EAGAIN: "raise the limit of processes (ulimit -u, or TasksMax= of a service)",
};

/**
 * Returns the reason for not starting if `error` reports a shortage, or else `error`. `task` says what could
 * not be done.
 */
export function refuseShortage(task: string, error: unknown): unknown {
  const code = shortageIn(error);
  if (code === undefined) return error;
  const reason = shortages[code] ?? `no further process can be started (${code})`;
  return new ConfigError(`${task}, because ${reason}; ${remedies[code]}, and start again`);
}

/** Returns the folder for temporary files of commands. */
export const temporaryParent = (environment: NodeJS.ProcessEnv): string => environment["TMPDIR"] || "/tmp";

const causes: Readonly<Record<string, string>> = {
  ...shortages,
  EACCES: "this user may not write it (EACCES)",
  ENOENT: "it does not exist (ENOENT)",
  ENOTDIR: "it is not a folder (ENOTDIR)",
};

/** Makes something in the folder for temporary files. Throws a `ConfigError` if the system refuses. */
export function makeTemporary<Made>(environment: NodeJS.ProcessEnv, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    if (shortageIn(error) !== undefined)
      throw refuseShortage("no temporary folder for commands can be made", error);
    const folder = JSON.stringify(temporaryParent(environment));
    const named = environment["TMPDIR"] ? `TMPDIR is ${folder}` : `TMPDIR is not set, so it is ${folder}`;
    throw new ConfigError(
      `${named}, and the temporary files of commands cannot be made there: ${causes[code] ?? code}; set TMPDIR to a folder that this user can write`,
    );
  }
}
