/** The field for the encoding of files, on the host only. */
import { Type } from "@sinclair/typebox";
import { refuseFs } from "./fs-errors.ts";

export const HostEncoding = () =>
  Type.Optional(
    Type.String({
      since: "0.4.0",
      description: "Of files without a byte order mark, such as `windows-1252` or `shift_jis`.",
    }),
  );

/** Returns the request to a sandbox, which knows no such field. Throws bad-input for a request with it. */
export function withoutEncoding<Request extends { readonly encoding?: string | undefined }>({
  encoding,
  ...rest
}: Request): Omit<Request, "encoding"> {
  if (encoding !== undefined) throw refuseFs.encodingInSandbox();
  return rest;
}
