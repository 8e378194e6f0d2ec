/**
 * Measures how long functions and files are, and fails on a function that passes the ceiling. Files have none: a file is
 * one thing, as long as it needs. How many parameters a function may have is the linter's business.
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

/** Factories, whose lines are those of the methods that they return. */
const factories = [
  "src/coder/services.ts openCoder",
  "src/scheduling/semaphore.ts createSemaphore",
  "src/transactions/transactions.ts createTransactions",
  "src/worker/serve.ts serve",
];

/** Something with a length in lines. */
export interface Extent {
  readonly name: string;
  readonly lines: number;
}

/** The functions of a file that have a name; what is written inside one counts as part of it. */
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

/** Lines of the file, as an editor counts them. */
const linesOf = ({ path, syntax }: Source): Extent => ({
  name: path,
  lines: syntax.text.replace(/\n$/, "").split("\n").length,
});

/** One row of the table: how many there are, the middle one, the one that nine in ten stay below, the longest. */
function row(what: string, extents: readonly Extent[]): string {
  const ordered = extents.toSorted((one, other) => one.lines - other.lines);
  const at = (share: number) => ordered[Math.ceil(share * ordered.length) - 1];
  const cells = [extents.length, at(0.5)?.lines, at(0.9)?.lines, at(1)?.lines].map((cell) =>
    String(cell ?? "-").padStart(7),
  );
  return `${what.padEnd(20)}${cells.join("")}  ${at(1)?.name ?? ""}`;
}

async function measure(root: string): Promise<void> {
  const paths = [...new Bun.Glob("{src,scripts,tests,bench}/**/*.ts").scanSync(root)].sort();
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
