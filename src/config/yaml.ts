/** Parses YAML, in the event loop or in a thread. */
import { parseDocument } from "yaml";

export interface YamlText {
  readonly text: string;
  /**
   * Whether another program wrote it, and it may have any tags and aliases. Elsewhere a warning of the
   * parser, such as one of an unknown tag, is a problem too, because it would change the meaning of a key
   * silently.
   */
  readonly isForeign: boolean;
}

/** The value of a document, or the problem that kept it from being parsed. */
export interface ParsedYaml {
  readonly value?: unknown;
  readonly problem?: YamlProblem;
}

export interface YamlProblem {
  readonly message: string;
  readonly code: string | undefined;
}

/** Parses a document of YAML. */
export function parseYamlText({ text, isForeign }: YamlText): ParsedYaml {
  const document = parseDocument(text, isForeign ? { logLevel: "silent" } : {});
  const error = document.errors[0] ?? (isForeign ? undefined : document.warnings[0]);
  if (error !== undefined) return { problem: { message: error.message, code: error.code } };
  try {
    return { value: document.toJS(isForeign ? {} : { maxAliasCount: 0 }) };
  } catch (error) {
    return { problem: { message: (error as Error).message, code: undefined } };
  }
}
