import type { Tree } from "../../harness/tree.ts";

/** The project that most jobs work on. */
export const shop = {
  "package.json": '{\n  "name": "shop",\n  "version": "1.2.0",\n  "type": "module"\n}\n',
  "README.md": "# Shop\n\nRun it with `npm start`. Prices are in cents.\n",
  ".gitignore": "dist/\n*.log\n",
  "src/user.ts":
    'export interface User {\n  readonly id: string;\n  readonly name: string;\n}\n\nexport function getUser(id: string): User {\n  return { id, name: "Ada" };\n}\n',
  "src/orders.ts":
    'import { getUser } from "./user.ts";\nimport { total } from "./prices.ts";\n\nexport function describeOrder(id: string, items: number[]): string {\n  const user = getUser(id);\n  return `${user.name} pays ${total(items)}`;\n}\n',
  "src/prices.ts":
    "const vat = 0.19;\n\nexport function total(items: number[]): number {\n  return items.reduce((sum, item) => sum + item, 0);\n}\n\nexport function gross(net: number): number {\n  return Math.round(net * (1 + vat));\n}\n",
  "test/orders.test.ts":
    'import { describeOrder } from "../src/orders.ts";\n\ntest("describes an order", () => {\n  expect(describeOrder("7", [100, 250])).toBe("Ada pays 350");\n});\n',
  "docs/orders.md": "# Orders\n\n`getUser` finds who has ordered.\n",
} as const satisfies Tree;
