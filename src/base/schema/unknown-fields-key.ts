import { Type } from "@sinclair/typebox";

/**
 * Returns the schema of the configuration key that decides about fields of requests that a function does not
 * have.
 */
export const UnknownFieldsKey = () =>
  Type.Union([Type.Literal("auto"), Type.Literal("ignore"), Type.Literal("refuse")], {
    default: "auto",
    description:
      "The treatment of request fields that a function does not have: ignore drops them, refuse fails the call before anything is done. Fields of the engine, which begin with `_`, are always accepted. auto is ignore in the profile contract, and refuse in agent.",
  });
