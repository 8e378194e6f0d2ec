/**
 * `npm run rooms`: who may import whom, and the few other rules about sources that neither the compiler nor the
 * linter knows. The plan they are compared with is house.ts.
 */
import { dirname, join } from "node:path";
import {
  isIdentifier,
  isPropertyAccessExpression,
  isStringLiteralLikeNode,
} from "typescript/unstable/ast/is";
import { type Plan, plan } from "./house.ts";
import { argumentOf, type Import, importsOf, lineOf, parseSources, type Source, walk } from "./syntax.ts";
import { treeChangesIn } from "./tree-changes.ts";

/** Every breach of the plan in the project at `root`, one sentence each, with file and line. */
export async function findBreaches(root: string, plan: Plan): Promise<string[]> {
  const paths = [...new Bun.Glob("{src,tests,scripts,bench}/**/*.ts").scanSync(root)].sort();
  // A unit test may take whatever it needs to try its neighbour.
  const sources = await parseSources(
    root,
    paths.filter((path) => !/^src\/.*\.test\.ts$/.test(path)),
  );
  const product = sources.filter(({ path }) => path.startsWith("src/") && !isForTests(path));
  const inTests = sources.filter(({ path }) => path.startsWith("tests/"));
  return [
    ...findCycles(plan),
    ...findFileCycles(sources),
    ...product.flatMap((source) => [...judgeImports(source, plan), ...judgeWords(source, plan)]),
    ...product.filter(({ path }) => !within(stem(path), plan.changeFiles)).flatMap(treeChangesIn),
    ...inTests.flatMap((source) => judgeTest(source, plan)),
  ];
}

/** The arrows of the plan itself go down only; as each import follows an arrow, no rooms import each other in a ring. */
function findCycles({ rooms }: Plan): string[] {
  return cyclesIn(rooms).map((cycle) => `the plan has a cycle: ${cycle.join(" → ")}`);
}

/** In a ring of files, none can be read or tried without all others. Imports of types count: they are read too. */
function findFileCycles(sources: readonly Source[]): string[] {
  const imports = sources.map((source): [string, string[]] => {
    const specifiers = importsOf(source).map(({ specifier }) => specifier ?? "");
    const files = specifiers.filter((specifier) => specifier.startsWith("."));
    return [source.path, files.map((specifier) => join(dirname(source.path), specifier))];
  });
  return cyclesIn(Object.fromEntries(imports)).map(
    (cycle) => `${cycle[0]} imports itself through others: ${cycle.join(" → ")}`,
  );
}

/** Rings in a graph: at least one where there are any. Each begins and ends with the same node. */
function cyclesIn(graph: Readonly<Record<string, readonly string[]>>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const descend = (node: string, above: readonly string[]) => {
    if (above.includes(node)) cycles.push([...above.slice(above.indexOf(node)), node]);
    else if (!done.has(node)) for (const below of graph[node] ?? []) descend(below, [...above, node]);
    done.add(node);
  };
  for (const node of Object.keys(graph)) descend(node, []);
  return cycles;
}

function judgeImports(source: Source, plan: Plan): string[] {
  return importsOf(source).flatMap((found) => {
    const complaint = judgeImport(stem(source.path), found, plan);
    return complaint === undefined ? [] : [`${source.path}:${found.line} ${complaint}`];
  });
}

/** What is wrong with an import in `file`; undefined when nothing is. */
function judgeImport(file: string, { specifier, typeOnly }: Import, plan: Plan): string | undefined {
  if (specifier === undefined) return "imports a module whose name is computed; write the name out";
  if (specifier === "bun" || specifier.startsWith("bun:")) {
    return within(file, plan.onlyOnBun)
      ? undefined
      : `imports ${specifier}, and the same source must run on Node`;
  }
  if (specifier.startsWith("node:")) {
    const allowed = plan.guarded[specifier];
    return allowed === undefined || typeOnly || within(file, allowed)
      ? undefined
      : refused(specifier, allowed);
  }
  const target = resolve(file, specifier);
  return target.startsWith("src/") ? judgeArrow(file, stem(target), plan) : judgePackage(file, target, plan);
}

function judgeArrow(file: string, target: string, { rooms }: Plan): string | undefined {
  if (isForTests(`${target}.ts`)) return `imports ${target}, which is for tests`;
  const from = roomOf(file, rooms);
  const to = roomOf(target, rooms);
  if (from === undefined) return `is in no room; give ${file} one in scripts/house.ts`;
  if (to === undefined) return `imports ${target}, which is in no room; give it one in scripts/house.ts`;
  if (from === to || rooms[from]?.includes(to)) return undefined;
  return `imports ${target}: no arrow leads from ${from} to ${to}; ${from} may import ${listed(rooms[from] ?? [])}`;
}

function judgePackage(file: string, target: string, { packages }: Plan): string | undefined {
  if (target === "package.json") return undefined;
  const name = target.replace(/^node_modules\//, "").match(/^(?:@[^/]+\/)?[^/]+/)?.[0] ?? target;
  const allowed = packages[name] ?? [];
  return within(file, allowed) ? undefined : refused(name, allowed);
}

/** Rules about single words in a source. */
function judgeWords(source: Source, plan: Plan): string[] {
  const file = stem(source.path);
  const complaints: string[] = [];
  walk(source.syntax, (node) => {
    const complain = (text: string) => complaints.push(`${source.path}:${lineOf(source, node)} ${text}`);
    const pattern = argumentOf(node, "RegExp");
    if (pattern !== undefined && !isStringLiteralLikeNode(pattern)) {
      complain("makes a RegExp of a computed pattern; patterns of callers belong to src/regex");
    }
    if (isPropertyAccessExpression(node) && isIdentifier(node.expression) && node.expression.text === "Bun") {
      if (!within(file, plan.onlyOnBun)) complain("uses Bun, and the same source must run on Node");
    }
    if (
      isPropertyAccessExpression(node) &&
      node.name.text === "env" &&
      isIdentifier(node.expression) &&
      node.expression.text === "process" &&
      !within(file, plan.readEnvironment)
    )
      complain("reads the environment, which is read at the front and passed as options");
    if (isStringLiteralLikeNode(node) || isIdentifier(node)) {
      const isCode = /^[CS]2\d\d$/.test(node.text);
      if (isCode && !within(file, plan.nameCodes))
        complain(`spells out ${node.text}; codes belong to ${listed(plan.nameCodes)}`);
    }
  });
  return complaints;
}

function judgeTest(source: Source, { openToTests }: Plan): string[] {
  return importsOf(source).flatMap(({ specifier, line }) => {
    const target = specifier === undefined ? "" : resolve(source.path, specifier);
    if (!target.startsWith("src/") || within(stem(target), openToTests)) return [];
    return [
      `${source.path}:${line} imports ${target}: tests/ sees the worker from outside, through ${listed(openToTests)}`,
    ];
  });
}

/** A unit test, or a kit that unit tests share: no part of the product, and free to take what it needs. */
export const isForTests = (path: string): boolean => /\.(test|test-kit)\.ts$/.test(path);

/** `src/jail/jail.ts` → `jail/jail`. */
export const stem = (path: string): string => path.replace(/^src\//, "").replace(/\.ts$/, "");

/** The path from the root that a relative specifier means; a package's specifier is itself. */
function resolve(file: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  const folder = dirname(file.startsWith("tests/") ? file : `src/${file}`);
  return join(folder, specifier);
}

const holds = (room: string, file: string) => file === room || file.startsWith(`${room}/`);

const within = (file: string, rooms: readonly string[]) => rooms.some((room) => holds(room, file));

/** The room of a file that is named by its `stem`. */
export function roomOf(file: string, rooms: Plan["rooms"]): string | undefined {
  const fitting = Object.keys(rooms).filter((room) => holds(room, file));
  return fitting.sort((one, other) => other.length - one.length)[0];
}

const refused = (name: string, allowed: readonly string[]) =>
  `imports ${name}, which is for ${listed(allowed)}`;

const listed = (names: readonly string[]) => (names.length === 0 ? "none" : names.join(", "));

if (import.meta.main) {
  const breaches = await findBreaches(dirname(import.meta.dir), plan);
  for (const breach of breaches) console.log(breach);
  if (breaches.length > 0) process.exitCode = 1;
}
