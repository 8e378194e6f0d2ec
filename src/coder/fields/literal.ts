import { Type } from "@sinclair/typebox";

/** The field `literal` of a function that makes names or writes texts. */
export const Literal = (options: { readonly since?: string } = {}) =>
  Type.Boolean({
    default: false,
    description: "Accept names and text that look like mistakes.",
    isRare: true,
    ...options,
  });
