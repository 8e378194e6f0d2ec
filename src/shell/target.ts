/** The target of a call (shell §5). */
import { type Static, Type } from "@sinclair/typebox";

/**
 * The schema of the field `target`. A valid value may still have a `sandbox_id` that is not a UUID: see
 * `parseSandboxId`.
 */
export const Target = (description?: string) =>
  Type.Union(
    [
      Type.Object({ kind: Type.Literal("host") }),
      Type.Object({ kind: Type.Literal("sandbox"), sandbox_id: Type.String({ format: "uuid" }) }),
    ],
    { $id: "Target", default: { kind: "host" }, ...(description !== undefined && { description }) },
  );

export type Target = Static<ReturnType<typeof Target>>;
export type SandboxTarget = Extract<Target, { kind: "sandbox" }>;

/** The schema of requests that are published without their fields. */
export const AnyValue = Type.Unknown({ title: "AnyValue" });
