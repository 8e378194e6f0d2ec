import type { WorkerDefinition } from "../../src/calls/contract/definition.ts";
import { renderOwnReference } from "../../src/calls/reference/json.ts";
import { describeTools } from "../../src/transports/mcp/tools.ts";

type Workers = Readonly<Record<"coder" | "shell", WorkerDefinition>>;

/**
 * Renders the golden files that follow the sources, by path. Their changes are reviewed as a diff. The
 * published references are not among them, because they never change.
 */
export function renderGoldens({ coder, shell }: Workers): [path: string, text: string][] {
  const usual = coder.functions.filter(({ isRare = false }) => !isRare);
  return [
    [
      "tests/conformance/own.golden.json",
      render({ coder: renderOwnReference(coder.functions), shell: renderOwnReference(shell.functions) }),
    ],
    ["tests/mcp/tools.golden.json", render(describeTools(usual, ofModels))],
  ];
}

/** The default way of listing tools. */
const ofModels = { isStructured: false, takesFlatEnvelopes: true, isForgiving: true, listsRareFields: false };

const render = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
