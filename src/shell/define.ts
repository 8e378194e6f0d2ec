import type { Static, TObject } from "@sinclair/typebox";
import type { Log } from "../base/log/log.ts";
import type { Steps } from "../base/scheduling/time-slice.ts";
import { Mismatch, validateInSteps } from "../base/schema/validate.ts";
import { type Context, definerFor, type Services } from "../calls/contract/definition.ts";
import type { RegexEngine } from "../text/regex/rust-regex.ts";
import type { ShellConfig } from "./config.ts";
import type { BegunCommand } from "./confinement.ts";
import type { FsServices } from "./fs/services.ts";
import type { LinePatterns } from "./line-patterns.ts";
import type { ObservedServices } from "./observed.ts";
import type { ShellProfile } from "./profiles.ts";
import type { Jobs } from "./programs/jobs.ts";
import type { Policy } from "./programs/policy.ts";
import type { Programs } from "./programs/programs.ts";
import type { SpawnOptions } from "./programs/start.ts";
import { refuseShell } from "./shell-errors.ts";

/** The services of every call to `shell::*`. */
export interface ShellServices extends Services, ObservedServices {
  readonly config: ShellConfig;
  readonly profile: ShellProfile;
  readonly log: Log;
  readonly regex: RegexEngine;
  readonly linePatterns: LinePatterns;
  readonly fs: FsServices;
  readonly policy: Policy;
  readonly programs: Programs;
  readonly jobs: Jobs;
  /** The environment and limits of commands. */
  readonly spawnOptions: SpawnOptions;
  /**
   * The path of the folder that commands start in, if it is one of the jail, so that a command is refused
   * when the folder is gone. `undefined`: that of `spawnOptions`.
   */
  readonly startFolder: string | undefined;
  /** Confines a command. Call it for each. */
  beginCommand(): BegunCommand;
}

export type ShellContext = Context<ShellServices>;

/** Defines a function of `shell::*`. */
export const defineShellFunction = definerFor<ShellServices>();

/**
 * Returns the `parse` of `shell::fs::<op>`. It validates the payload by `schema`, and refuses an invalid one
 * with the phrase that clients match (shell §8.1).
 */
export const parserOf = <Request extends TObject>(op: string, schema: Request) =>
  function* (payload: unknown): Steps<Static<Request>> {
    try {
      return yield* validateInSteps(schema, payload, { unknownKeys: "ignore" });
    } catch (error) {
      if (error instanceof Mismatch) throw refuseShell.badPayload(op, error.field, error.problem);
      throw error;
    }
  };
