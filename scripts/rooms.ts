/**
 * `npm test -- --only rooms`: checks imports, and the few other rules about sources that neither the compiler
 * nor the linter has, against the plan in house.ts.
 */
import { dirname, join } from "node:path";
import type { Node } from "typescript/unstable/ast";
import {
  isIdentifier,
  isPropertyAccessExpression,
  isStringLiteralLikeNode,
} from "typescript/unstable/ast/is";
import { type Plan, plan } from "./house.ts";
import {
  argumentOf,
  type Import,
  importsOf,
  lineOf,
  parseSources,
  type Source,
  visitNodes,
} from "./syntax.ts";
import { treeChangesIn } from "./tree-changes.ts";

/**
 * Parses the files of the project at `root` that the plan applies to: all except unit tests, which may import
 * freely.
 */
export function parseProject(root: string): Promise<Source[]> {
  const paths = [...new Bun.Glob("{src,tests,scripts,bench}/**/*.{ts,tsx}").scanSync(root)].sort();
  return parseSources(
    root,
    paths.filter((path) => !/^src\/.*\.test\.ts$/.test(path)),
  );
}

const productOf = (sources: readonly Source[]): Source[] =>
  sources.filter(({ path }) => path.startsWith("src/") && !isForTests(path));

/** Finds every breach of the plan, one sentence each, with file and line. */
export function findBreaches(sources: readonly Source[], plan: Plan): string[] {
  const product = productOf(sources);
  const inTests = sources.filter(({ path }) => path.startsWith("tests/"));
  return [
    ...findCycles(plan),
    ...findUpwardArrows(plan),
    ...findFileCycles(sources),
    ...product.flatMap((source) => [...judgeImports(source, plan), ...judgeWords(source, plan)]),
    ...product.filter(({ path }) => !within(stem(path), plan.changeFiles)).flatMap(treeChangesIn),
    ...inTests.flatMap((source) => judgeTest(source, plan)),
  ];
}

/**
 * Finds cycles in the plan itself. Each import follows an arrow, so without cycles no rooms import each other
 * in a ring.
 */
function findCycles({ rooms }: Plan): string[] {
  return cyclesIn(rooms).map((cycle) => `the plan has a cycle: ${cycle.join(" → ")}`);
}

/** Finds arrows from a room to one in a district further up, and rooms without a district. */
function findUpwardArrows({ districts, rooms }: Plan): string[] {
  const floorOf = (room: string) => districts.indexOf(room.split("/")[0]!);
  return Object.entries(rooms).flatMap(([room, targets]) => [
    ...(floorOf(room) < 0 ? [`${room} is in none of the districts`] : []),
    ...targets
      .filter((target) => floorOf(target) < floorOf(room))
      .map((target) => `the arrow ${room} → ${target} leads up`),
  ]);
}

/** Finds permissions that no import needs: an arrow, or a room that may use a package or a module. */
export function findUnused(sources: readonly Source[], { rooms, packages, guarded }: Plan): string[] {
  const imports = productOf(sources).flatMap((source) => {
    const file = stem(source.path);
    return importsOf(source).map(({ specifier = "" }) => ({ file, target: resolve(file, specifier) }));
  });
  const arrows = imports.map(({ file, target }) => `${roomOf(file, rooms)} → ${roomOf(stem(target), rooms)}`);
  const used = new Set(arrows);
  const users = (name: string) =>
    imports.filter(({ target }) => packageOf(target) === name).map(({ file }) => file);
  return [
    ...Object.entries(rooms)
      .flatMap(([from, targets]) => targets.map((to) => `${from} → ${to}`))
      .filter((arrow) => !used.has(arrow))
      .map((arrow) => `no import needs the arrow ${arrow}`),
    ...Object.entries({ ...packages, ...guarded }).flatMap(([name, allowed]) =>
      allowed
        .filter((room) => !users(name).some((file) => holds(room, file)))
        .map((room) => `${room} may import ${name}, and does not`),
    ),
  ];
}

/**
 * Finds rings of files, none of which can be read or tested without all others. Imports of types count: they
 * are read too.
 */
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

/** Finds rings in a graph, at least one if any exist. Each begins and ends with one node. */
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

/** Returns the fault of an import in `file`, or `undefined` if it is allowed. */
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
  const name = packageOf(target);
  const allowed = packages[name] ?? [];
  return within(file, allowed) ? undefined : refused(name, allowed);
}

/** Returns the package of a specifier's target. A module of the platform is its own package. */
const packageOf = (target: string): string =>
  target.startsWith("node:")
    ? target
    : (target.replace(/^node_modules\//, "").match(/^(?:@[^/]+\/)?[^/]+/)?.[0] ?? target);

/** The context of a rule about single words. */
interface WordContext {
  readonly file: string;
  readonly imported: ReadonlySet<string | undefined>;
  readonly plan: Plan;
}

function judgeWords(source: Source, plan: Plan): string[] {
  const imported = new Set(importsOf(source).map(({ specifier }) => specifier));
  const context: WordContext = { file: stem(source.path), imported, plan };
  const complaints: string[] = [];
  visitNodes(source.syntax, (node) => {
    for (const rule of wordRules) {
      const complaint = rule(node, context);
      if (complaint !== undefined) complaints.push(`${source.path}:${lineOf(source, node)} ${complaint}`);
    }
  });
  return complaints;
}

const wordRules: readonly ((node: Node, context: WordContext) => string | undefined)[] = [
  (node) => {
    const pattern = argumentOf(node, "RegExp");
    return pattern === undefined || isStringLiteralLikeNode(pattern)
      ? undefined
      : "makes a RegExp of a computed pattern; patterns of callers belong to src/text/regex";
  },
  (node, { file, plan }) =>
    isMemberOf(node, "Bun") && !within(file, plan.onlyOnBun)
      ? "uses Bun, and the same source must run on Node"
      : undefined,
  (node, { file, plan }) =>
    isMemberOf(node, "process", "env") && !within(file, plan.readEnvironment)
      ? "reads the environment, which is read at the front and passed as options"
      : undefined,
  // Tools that move a file take such a literal for the path of a module, and rewrite it.
  (node, { imported }) =>
    isStringLiteralLikeNode(node) && /^\.\.\/./.test(node.text) && !imported.has(node.text)
      ? `names ${node.text}, a path above the current folder`
      : undefined,
  (node, { file, plan }) =>
    (isStringLiteralLikeNode(node) || isIdentifier(node)) &&
    /^[CS]2\d\d$/.test(node.text) &&
    !within(file, plan.nameCodes)
      ? `spells out ${node.text}; codes belong to ${listed(plan.nameCodes)}`
      : undefined,
];

/** Returns whether a node is `object.name`, or any member of it if no name is given. */
const isMemberOf = (node: Node, object: string, name?: string): boolean =>
  isPropertyAccessExpression(node) &&
  isIdentifier(node.expression) &&
  node.expression.text === object &&
  (name === undefined || node.name.text === name);

function judgeTest(source: Source, { openToTests }: Plan): string[] {
  return importsOf(source).flatMap(({ specifier, line }) => {
    const target = specifier === undefined ? "" : resolve(source.path, specifier);
    if (!target.startsWith("src/") || within(stem(target), openToTests)) return [];
    return [
      `${source.path}:${line} imports ${target}: tests/ sees the worker from outside, through ${listed(openToTests)}`,
    ];
  });
}

/**
 * Returns whether a path is a unit test, or a kit for unit tests. Neither belongs to the product, and both
 * may import freely.
 */
export const isForTests = (path: string): boolean => /\.(test|test-kit)\.ts$/.test(path);

/** Returns the name of a file in the plan: `filesystem/jail/jail` for `src/filesystem/jail/jail.ts`. */
export const stem = (path: string): string => path.replace(/^src\//, "").replace(/\.tsx?$/, "");

/** Returns the path relative to the root for a relative specifier, or a package's specifier itself. */
function resolve(file: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  const folder = dirname(file.startsWith("tests/") ? file : `src/${file}`);
  return join(folder, specifier);
}

const holds = (room: string, file: string) => file === room || file.startsWith(`${room}/`);

const within = (file: string, rooms: readonly string[]) => rooms.some((room) => holds(room, file));

/** Returns the room of a file that is named by its `stem`. */
export function roomOf(file: string, rooms: Plan["rooms"]): string | undefined {
  const fitting = Object.keys(rooms).filter((room) => holds(room, file));
  return fitting.sort((one, other) => other.length - one.length)[0];
}

const refused = (name: string, allowed: readonly string[]) =>
  `imports ${name}, which is for ${listed(allowed)}`;

const listed = (names: readonly string[]) => (names.length === 0 ? "none" : names.join(", "));

if (import.meta.main) {
  const sources = await parseProject(dirname(import.meta.dir));
  const breaches = [...findBreaches(sources, plan), ...findUnused(sources, plan)];
  for (const breach of breaches) console.log(breach);
  if (breaches.length > 0) process.exitCode = 1;
}
