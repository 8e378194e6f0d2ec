/**
 * Forwards calls with a sandbox as target to another worker (shell §10). Checks nothing on the host: callers
 * do that.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { Mismatch, validate } from "../base/schema/validate.ts";
import { type BusAccess, RemoteError } from "../calls/contract/bus-access.ts";
import type { ShellContext } from "./define.ts";
import { forwardableCodes, shellCodes } from "./error-codes.ts";
import { refuseShell } from "./shell-errors.ts";
import type { SandboxTarget } from "./target.ts";

export interface Forwarding<Response extends TSchema> {
  /** The function to call: `sandbox::exec` or `sandbox::fs::<op>`. */
  readonly functionId: string;
  readonly target: SandboxTarget;
  /** The request with defaults filled in, without its target. */
  readonly fields: object;
  /** The schema of the answer. Other fields are dropped. */
  readonly response: Response;
  /** The codes to pass on; any other becomes that of a failure. */
  readonly codes: keyof typeof forwardableCodes;
  /** Milliseconds to wait for the answer; default 30 s, as on the bus. */
  readonly milliseconds?: number;
}

const defaultMilliseconds = 30_000;

/**
 * Forwards a call to a sandbox and returns its answer. Throws a `Refusal` if that is impossible (disabled, no
 * bus, an invalid answer), and the sandbox's own refusal as a `ForwardedRefusal`.
 */
export async function forward<Response extends TSchema>(
  forwarding: Forwarding<Response>,
  context: ShellContext,
): Promise<Static<Response>> {
  const bus = admitSandbox(context);
  const { functionId, target, fields, response, codes, milliseconds = defaultMilliseconds } = forwarding;
  let answer: unknown;
  try {
    answer = await bus.call(functionId, { sandbox_id: target.sandbox_id, ...fields }, milliseconds);
  } catch (error) {
    throw error instanceof RemoteError ? forwarded(error, codes) : error;
  }
  return readAnswer(functionId, response, answer);
}

/**
 * Returns the bus, for a call to a sandbox. Throws a `Refusal` if sandboxes are disabled or there is no bus.
 */
export function admitSandbox({ config, bus }: Pick<ShellContext, "config" | "bus">): BusAccess {
  if (!config.sandbox.enabled) throw refuseShell.sandboxDisabled();
  if (bus === undefined) throw refuseShell.noBus("the sandbox target");
  return bus;
}

function readAnswer<Response extends TSchema>(
  functionId: string,
  response: Response,
  answer: unknown,
): Static<Response> {
  try {
    return validate(response, answer, { unknownKeys: "ignore" });
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    const problem = error.field === "" ? error.problem : `does not fit: ${error.field} ${error.problem}`;
    throw refuseShell.badEngineResponse(functionId, problem);
  }
}

/** Converts a failed call to a refusal with the sandbox's code (shell §10.3). */
function forwarded({ code, message }: RemoteError, codes: keyof typeof forwardableCodes) {
  const isDirect = code.startsWith("S");
  const found = isDirect ? code : /(?<![A-Za-z0-9_])S\d{3}/.exec(message)?.[0];
  const known: readonly string[] = forwardableCodes[codes];
  const passed = found !== undefined && known.includes(found) ? found : shellCodes.io;
  return refuseShell.forwarded(passed, isDirect || found === undefined ? "" : "(wrapped)", message);
}
