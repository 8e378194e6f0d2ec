import type { Static, TObject } from "@sinclair/typebox";
import { type Context, definerFor, type Services } from "../contract/definition.ts";
import type { Log } from "../log/log.ts";
import type { Jobs } from "../processes/jobs.ts";
import type { Policy } from "../processes/policy.ts";
import type { Programs } from "../processes/programs.ts";
import type { SpawnOptions } from "../processes/start.ts";
import type { RegexEngine } from "../regex/engine.ts";
import { Mismatch, validate } from "../schema/validate.ts";
import type { ShellConfig } from "./config.ts";
import type { BegunCommand } from "./confinement.ts";
import { refuseShell } from "./errors.ts";
import type { FsServices } from "./fs/services.ts";
import type { ObservedServices } from "./observed.ts";
import type { ShellProfile } from "./profiles.ts";

/** The services of every call to `shell::*`. */
export interface ShellServices extends Services, ObservedServices {
  readonly config: ShellConfig;
  readonly profile: ShellProfile;
  readonly log: Log;
  readonly regex: RegexEngine;
  readonly fs: FsServices;
  readonly policy: Policy;
  readonly programs: Programs;
  readonly jobs: Jobs;
  /** The environment and limits of commands. */
  readonly spawnOptions: SpawnOptions;
  /** Confines a command. To be called for each. */
  beginCommand(): BegunCommand;
}

export type ShellContext = Context<ShellServices>;

/** Defines a function of `shell::*`. */
export const defineShellFunction = definerFor<ShellServices>();

/**
 * The `parse` of `shell::fs::<op>`: validates the payload by `schema`, and refuses a wrong one with the phrase that clients
 * look for (shell §8.1).
 */
export const parserOf =
  <Request extends TObject>(op: string, schema: Request) =>
  (payload: unknown): Static<Request> => {
    try {
      return validate(schema, payload, { unknownKeys: "ignore" });
    } catch (error) {
      if (error instanceof Mismatch) throw refuseShell.badPayload(op, error.field, error.problem);
      throw error;
    }
  };
