/** The encodings of files by their paths, in the configuration. */
import { Type } from "@sinclair/typebox";
import { ConfigError } from "../../config/file.ts";
import { encodingWithLabel } from "../../text/encodings/codec.ts";
import { EncodingRules } from "../../text/encodings/encoding-rules.ts";
import { GlobError } from "../../text/globs/glob-set.ts";

export const EncodingsKey = Type.Array(
  Type.Object({
    glob: Type.String({ description: "Files, relative to base_path." }),
    encoding: Type.String({ description: "A label of the Encoding Standard." }),
  }),
  {
    default: [],
    description:
      'Encodings of files without a byte order mark, such as `{glob: "**/*.rc", encoding: windows-1252}`; the first glob that matches decides. Others are UTF-8. With any, searches do not use the index. Only in the profile agent.',
  },
);

/** Compiles the rules of the configuration in `file`. Throws a `ConfigError`. */
export function encodingRulesOf(
  rules: readonly { readonly glob: string; readonly encoding: string }[],
  file = "encodings",
): EncodingRules {
  try {
    return new EncodingRules(
      rules.map(({ glob, encoding: label }) => {
        const encoding = encodingWithLabel(label);
        if (encoding !== undefined) return { glob, encoding };
        const problem = `${JSON.stringify(label)} is not a label of an encoding that files are written in`;
        throw new ConfigError(`${file}: encodings: ${problem}`, "encodings");
      }),
    );
  } catch (error) {
    throw error instanceof GlobError
      ? new ConfigError(`${file}: encodings: ${error.message}`, "encodings")
      : error;
  }
}
