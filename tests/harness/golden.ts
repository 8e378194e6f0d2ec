import Ajv, { type ValidateFunction } from "ajv";
import golden from "../conformance/coder-0.2.0.golden.json" with { type: "json" };

/** The published API reference. */
export const reference: {
  readonly functions: readonly FunctionReference[];
  readonly triggers: readonly unknown[];
} = golden;

export interface FunctionReference {
  readonly name: string;
  readonly description: string;
  readonly request_schema: object;
  readonly response_schema: object;
  readonly metadata: object;
}

// The formats (uint32, int64 …) say what a number is in Rust; ajv knows none of them.
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });

const validators = new Map<string, ValidateFunction>(
  reference.functions.map((entry) => [entry.name, ajv.compile(entry.response_schema)]),
);

/** How an answer violates the published response schema of its function; empty when it does not. */
export function schemaFaults(functionId: string, answer: unknown): string[] {
  const validate = validators.get(functionId);
  if (validate === undefined) return [`${functionId} is not in the published reference`];
  return validate(answer)
    ? []
    : (validate.errors ?? []).map((error) => `the published schema: ${error.instancePath} ${error.message}`);
}
