/** The project for the jobs: a small one, with the same bytes every time. */
import type { Tree } from "../../harness/tree.ts";

const lines = (count: number, line: (number: number) => string): string =>
  Array.from({ length: count }, (_, index) => `${line(index + 1)}\n`).join("");

/** Returns a module of 22 functions and 20 constants that contains `getUser` in three places. */
const moduleOf = (name: string): string =>
  [
    `import { getUser } from "./user.ts";\n\n`,
    lines(20, (n) => `export const ${name}${n} = (id: string): number => id.length * ${n};`),
    `\nexport function ${name}Owner(id: string): string {\n  return getUser(id).name;\n}\n\n`,
    lines(20, (n) => `export const ${name}Limit${n} = ${n * 100};`),
    `\nexport function ${name}Mail(id: string): string {\n  return getUser(id).mail;\n}\n`,
  ].join("");

const rules = lines(
  3000,
  (n) => `  { id: ${n}, name: "rule-${n}", weight: ${(n * 7) % 100}, enabled: true },`,
);

/** The smallest possible PNG, with one pixel. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

export const project: Tree = {
  "package.json": '{\n  "name": "shop",\n  "version": "1.0.0",\n  "type": "module"\n}\n',
  "README.md": "# Shop\n\nHow to run it: `npm start`.\n",
  "src/user.ts": lines(30, (n) => `export const field${n} = "user-${n}";`),
  "src/orders.ts": moduleOf("order"),
  "src/invoices.ts": moduleOf("invoice"),
  "src/carts.ts": moduleOf("cart"),
  "src/rules.ts": rules,
  "src/prices.ts": `${lines(60, (n) => `const price${n} = ${n};`)}export const total = (items: number[]) =>\n  items.reduce((sum, item) => sum + item, 0);\n${lines(60, (n) => `const rate${n} = ${n};`)}`,
  ...Object.fromEntries(
    Array.from({ length: 24 }, (_, index) => [
      `src/pages/page-${index + 1}.ts`,
      `export const page = ${index};\n`,
    ]),
  ),
  "docs/setup.md": lines(40, (n) => `Step ${n} of the setup.`),
  "docs/images/logo.png": pixel,
  "tests/orders.test.ts": 'import "../src/orders.ts";\n',
  "tests/carts.test.ts": 'import "../src/carts.ts";\n',
};
