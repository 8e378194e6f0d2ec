/** Refuses requests that do not fit the schema of their function, with advice for a model. */
import { Refusal, refuse } from "../../base/errors.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { Mismatch, validateInSteps } from "../../base/schema/validate.ts";
import type { FunctionDefinition } from "../contract/definition.ts";
import { repeatedKey } from "./coerce.ts";
import { refuseField } from "./field-errors.ts";
import { adviceOn } from "./misfit-advice.ts";
import { nameSent, type ReadPayload } from "./read-request.ts";
import { isMap, withoutNull } from "./schemas.ts";

/**
 * Returns the payload as the schema of the function describes it, in steps. Throws the refusal of the
 * function for an invalid one, with advice on what to send.
 */
export function* requireFit(
  definition: Pick<FunctionDefinition, "request" | "parse">,
  { payload, sentAs }: Pick<ReadPayload, "payload" | "sentAs">,
): Steps<unknown> {
  try {
    return yield* validateInSteps(definition.request, payload, { unknownKeys: "ignore" });
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    const { field, problem, fault } = error;
    if (fault !== undefined && isMap(withoutNull(fault.schema)))
      throw refuseField.notMap(nameSent(field, sentAs), repeatedKey(fault.value));
    let refusal = refuse.badPayload(nameSent(field, sentAs), problem);
    try {
      if (definition.parse !== undefined) yield* definition.parse(payload);
    } catch (ofFunction) {
      if (ofFunction instanceof Refusal) refusal = ofFunction;
      // Every function refuses with advice what is not an object.
      else if (field !== "") throw ofFunction;
    }
    if (fault === undefined) throw refusal;
    const { schema, value: sent } = fault;
    const { properties } = definition.request;
    throw refuseField.withAdvice(refusal, adviceOn({ field, schema, sent, payload, properties }));
  }
}
