import type { Static, TObject } from "@sinclair/typebox";
import { refuseShell } from "../errors/shell.ts";
import type { Jobs } from "../processes/jobs.ts";
import type { Policy } from "../processes/policy.ts";
import type { Programs } from "../processes/programs.ts";
import type { Surroundings } from "../processes/start.ts";
import type { RegexEngine } from "../regex/engine.ts";
import { type Context, definerFor, type Workshop } from "../worker/define.ts";
import type { Log } from "../worker/log.ts";
import { Mismatch, validate } from "../worker/validate.ts";
import type { ShellConfig } from "./config.ts";
import type { Disk } from "./fs/disk.ts";

/** What every call to `shell::*` works with. */
export interface ShellWorkshop extends Workshop {
  readonly config: ShellConfig;
  readonly log: Log;
  readonly regex: RegexEngine;
  readonly disk: Disk;
  readonly policy: Policy;
  readonly programs: Programs;
  readonly jobs: Jobs;
  /** What commands run in. */
  readonly surroundings: Surroundings;
}

export type ShellContext = Context<ShellWorkshop>;

/** Defines a function of `shell::*`. */
export const defineFunction = definerFor<ShellWorkshop>();

/**
 * The `parse` of `shell::fs::<op>`: the payload as `schema` describes it. A payload that does not fit is refused with
 * the phrase that clients look for (specification of shell, section 8.1).
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
