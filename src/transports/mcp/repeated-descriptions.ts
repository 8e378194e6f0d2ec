import type { Tool } from "@modelcontextprotocol/server";

interface Schema {
  readonly description?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/**
 * Returns the tools without descriptions of fields that repeat, word for word, the description of an earlier
 * field of that name. A model reads all tools on every turn, so each thing is said once.
 */
export function withoutRepeatedDescriptions(tools: readonly Tool[]): Tool[] {
  const shown = new Set<string>();
  return tools.map((tool) => ({
    ...tool,
    inputSchema: describeOnce(tool.inputSchema as Schema, shown) as Tool["inputSchema"],
  }));
}

/**
 * Returns the schema of an object or a list with new descriptions only. `shown` has the descriptions so far,
 * each with the name of its field.
 */
function describeOnce(schema: Schema, shown: Set<string>): Schema {
  const { items, properties } = schema;
  if (items !== undefined) return { ...schema, items: describeOnce(items, shown) };
  if (properties === undefined) return schema;
  const fields = Object.entries(properties).map(([name, { description, ...field }]) => {
    const key = `${name}: ${description}`;
    const isNew = description !== undefined && !shown.has(key);
    shown.add(key);
    return [name, { ...(isNew && { description }), ...describeOnce(field, shown) }] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}
