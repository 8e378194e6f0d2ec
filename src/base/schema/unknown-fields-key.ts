import { Type } from "@sinclair/typebox";

/**
 * Returns the schema of the configuration key that decides about fields of requests that a function does not
 * have.
 */
export const UnknownFieldsKey = () =>
  Type.Union([Type.Literal("auto"), Type.Literal("ignore"), Type.Literal("refuse")], {
    default: "auto",
    description:
      "What becomes of a field of a request that the function does not have: with ignore it is dropped, with refuse the call fails before anything is done. Fields of the engine, which begin with `_`, are always accepted. auto is ignore in the profile contract, and refuse in agent.",
  });
