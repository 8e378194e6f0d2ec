/** Fields that several tools have. A model reads all tools on every turn, so a later one refers to the first. */
import type { Tool } from "@modelcontextprotocol/server";

interface Schema {
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Bytes from which a reference to another tool is shorter, and worth looking there. */
const worthSharing = 200;

/** The tools, without the fields of entries of lists that an earlier tool shows under the same name. */
export function shareFields(tools: readonly Tool[]): Tool[] {
  const shown = new Map<string, string>();
  return tools.map((tool) => ({
    ...tool,
    inputSchema: withoutRepeats(tool.inputSchema as Schema, tool.name, shown) as Tool["inputSchema"],
  }));
}

/** `shown` has the tool that shows each list. */
function withoutRepeats(schema: Schema, tool: string, shown: Map<string, string>): Schema {
  const { items, properties } = schema;
  if (items !== undefined) return { ...schema, items: withoutRepeats(items, tool, shown) };
  if (properties === undefined) return schema;
  const shared = Object.entries(properties).map(([name, property]) => [
    name,
    refer(name, property, shown) ?? withoutRepeats(remember(name, property, { tool, shown }), tool, shown),
  ]);
  return { ...schema, properties: Object.fromEntries(shared) };
}

function refer(name: string, property: Schema, shown: ReadonlyMap<string, string>): Schema | undefined {
  const tool = shown.get(keyOf(name, property));
  return tool === undefined
    ? undefined
    : ({ description: `As in ${tool}.`, type: "array", items: { type: "object" } } as Schema);
}

function remember(
  name: string,
  property: Schema,
  { tool, shown }: { readonly tool: string; readonly shown: Map<string, string> },
): Schema {
  const key = keyOf(name, property);
  if (property.items?.properties !== undefined && key.length > worthSharing) shown.set(key, tool);
  return property;
}

const keyOf = (name: string, property: Schema): string => JSON.stringify([name, property]);
