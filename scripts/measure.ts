/**
 * Measures the length of functions and files, and fails on a function over the maximum. Files have none: a
 * file is one thing, as long as it needs. The linter limits the number of parameters.
 */
import { dirname } from "node:path";
import type { Node } from "typescript/unstable/ast";
import {
  isFunctionLikeDeclaration,
  isPropertyAssignment,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";
import { isForTests } from "./rooms.ts";
import { lineOf, parseSources, type Source, visitNodes } from "./syntax.ts";

/** Maximum lines of a function in `src`. */
const ceiling = 60;

/** The exempt factories, whose lines are those of the methods that they return. */
const factories = [
  "src/coder/services.ts openCoder",
  "src/base/scheduling/semaphore.ts createSemaphore",
  "src/filesystem/transactions/transactions.ts createTransactions",
  "src/transports/bus/serve-bus.ts serve",
];

/** The length of a function or a file. */
export interface Extent {
  readonly name: string;
  readonly lines: number;
}

/** Returns the named functions of a file. A nested function counts as part of the outer one. */
export function functionsOf(source: Source): Extent[] {
  const found: Extent[] = [];
  visitNodes(source.syntax, (node) => {
    const name = nameOf(node);
    if (name === undefined) return;
    const last = source.syntax.getLineAndCharacterOfPosition(node.getEnd()).line + 1;
    const first = lineOf(source, node);
    found.push({ name: `${source.path}:${first} ${name}`, lines: last - first + 1 });
  });
  return found;
}

function nameOf(node: Node): string | undefined {
  if (!isFunctionLikeDeclaration(node) || node.body === undefined) return undefined;
  if ("name" in node && node.name !== undefined) return node.name.getText();
  const holder = node.parent;
  return isVariableDeclaration(holder) || isPropertyAssignment(holder) ? holder.name.getText() : undefined;
}

/** Returns the lines of the file, counted like in an editor. */
const linesOf = ({ path, syntax }: Source): Extent => ({
  name: path,
  lines: syntax.text.replace(/\n$/, "").split("\n").length,
});

/** Renders one row of the table: the count, the median, the ninth decile and the maximum. */
function row(what: string, extents: readonly Extent[]): string {
  const ordered = extents.toSorted((one, other) => one.lines - other.lines);
  const at = (share: number) => ordered[Math.ceil(share * ordered.length) - 1];
  const cells = [extents.length, at(0.5)?.lines, at(0.9)?.lines, at(1)?.lines].map((cell) =>
    String(cell ?? "-").padStart(7),
  );
  return `${what.padEnd(20)}${cells.join("")}  ${at(1)?.name ?? ""}`;
}

async function measure(root: string): Promise<void> {
  const paths = [...new Bun.Glob("{src,scripts,tests,bench}/**/*.{ts,tsx}").scanSync(root)].sort();
  const sources = await parseSources(root, paths);
  const product = sources.filter(({ path }) => path.startsWith("src/") && !isForTests(path));
  console.log(`${"lines".padEnd(20)}  count median    p90    max`);
  console.log(row("functions of src", product.flatMap(functionsOf)));
  console.log(row("files of src", product.map(linesOf)));
  console.log(row("files of tests", sources.filter((source) => !product.includes(source)).map(linesOf)));
  for (const { name, lines } of product.flatMap(functionsOf)) {
    if (lines <= ceiling || factories.includes(name.replace(/:\d+/, ""))) continue;
    console.log(`${name} has ${lines} lines, more than ${ceiling}: find the second thing it does, and split`);
    process.exitCode = 1;
  }
}

if (import.meta.main) await measure(dirname(import.meta.dir));
