/**
 * The sandbox target: a call that another worker carries out (shell §10). Nothing of the host
 * is checked here but what the caller of these functions checks itself.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { type BusAccess, RemoteError } from "../contract/definition.ts";
import { Mismatch, validate } from "../schema/validate.ts";
import type { ShellContext } from "./define.ts";
import { forwardableCodes, refuseShell, shellCodes } from "./errors.ts";
import type { SandboxTarget } from "./target.ts";

export interface Forwarding<Response extends TSchema> {
  /** `sandbox::exec` or `sandbox::fs::<op>`. */
  readonly functionId: string;
  readonly target: SandboxTarget;
  /** The request with defaults filled in, without its target. */
  readonly fields: object;
  /** What the answer has to look like. Fields that it does not name are left out. */
  readonly response: Response;
  /** Which codes may be passed on; any other becomes that of a failure. */
  readonly codes: keyof typeof forwardableCodes;
  /** Longest that the answer is waited for; default 30 s, as the bus has it. */
  readonly milliseconds?: number;
}

const usualMilliseconds = 30_000;

/**
 * Has a sandbox carry out a call and returns its answer. Throws a `Refusal` when that cannot be (disabled, no bus, an
 * answer of another shape), and the sandbox's own refusal as a `ForwardedRefusal`.
 */
export async function forward<Response extends TSchema>(
  forwarding: Forwarding<Response>,
  context: ShellContext,
): Promise<Static<Response>> {
  const bus = admitSandbox(context);
  const { functionId, target, fields, response, codes, milliseconds = usualMilliseconds } = forwarding;
  let answer: unknown;
  try {
    answer = await bus.call(functionId, { sandbox_id: target.sandbox_id, ...fields }, milliseconds);
  } catch (error) {
    throw error instanceof RemoteError ? forwarded(error, codes) : error;
  }
  return readAnswer(functionId, response, answer);
}

/** The bus, for a call to a sandbox. Throws a `Refusal` when sandboxes are disabled or there is no bus. */
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

/** The refusal that a failed call means here: its code recovered (shell §10.3). */
function forwarded({ code, message }: RemoteError, codes: keyof typeof forwardableCodes) {
  const isDirect = code.startsWith("S");
  const found = isDirect ? code : /(?<![A-Za-z0-9_])S\d{3}/.exec(message)?.[0];
  const known: readonly string[] = forwardableCodes[codes];
  const passed = found !== undefined && known.includes(found) ? found : shellCodes.io;
  return refuseShell.forwarded(passed, isDirect || found === undefined ? "" : "(wrapped)", message);
}
