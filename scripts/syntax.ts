import { join } from "node:path";
import type { Node, SourceFile } from "typescript/unstable/ast";
import { SyntaxKind } from "typescript/unstable/ast";
import {
  isCallExpression,
  isExportDeclaration,
  isImportDeclaration,
  isImportTypeNode,
  isLiteralTypeNode,
  isNewExpression,
  isStringLiteralLikeNode,
} from "typescript/unstable/ast/is";
import { API } from "typescript/unstable/async";

/** A TypeScript file, parsed by the project's own compiler. */
export interface Source {
  /** The path relative to the root of the repository, with `/`. */
  readonly path: string;
  readonly syntax: SourceFile;
}

/** A place in a file that names another module: any form of import or re-export. */
export interface Import {
  /** The specifier, or `undefined` if it is computed at run time. */
  readonly specifier: string | undefined;
  /** Whether it is removed by compilation. */
  readonly typeOnly: boolean;
  readonly line: number;
}

/** The folder of the sources that run in a browser, which have a tsconfig.json of their own. */
const browserFolder = "src/review/page/";

/** Parses files of the project whose tsconfig.json is at `root`. Each of `paths` must belong to it. */
export async function parseSources(root: string, paths: readonly string[]): Promise<Source[]> {
  const isForBrowser = (path: string) => path.startsWith(browserFolder);
  const [here, there] = [paths.filter((path) => !isForBrowser(path)), paths.filter(isForBrowser)];
  return [
    ...(await parseProject(root, { config: "tsconfig.json", paths: here })),
    ...(there.length === 0
      ? []
      : await parseProject(root, { config: `${browserFolder}tsconfig.json`, paths: there })),
  ];
}

interface Project {
  readonly config: string;
  readonly paths: readonly string[];
}

async function parseProject(root: string, { config, paths }: Project): Promise<Source[]> {
  const compiler = new API({ cwd: root });
  try {
    const snapshot = await compiler.updateSnapshot({ openProject: join(root, config) });
    const program = snapshot.getProjects()[0]?.program;
    const parse = async (path: string): Promise<Source> => {
      const syntax = await program?.getSourceFile(join(root, path));
      if (syntax === undefined) throw new Error(`${path} is not covered by ${config}`);
      return { path, syntax };
    };
    return await Promise.all(paths.map(parse));
  } finally {
    await compiler.close();
  }
}

/** Calls `visit` for `node` and everything in it, outermost first. */
export function visitNodes(node: Node, visit: (node: Node) => void): void {
  visit(node);
  node.forEachChild((child) => visitNodes(child, visit));
}

/** Returns the 1-based line that `node` starts in, not counting comments before it. */
export function lineOf({ syntax }: Source, node: Node): number {
  return syntax.getLineAndCharacterOfPosition(node.getStart(syntax)).line + 1;
}

/** Returns everything that `source` imports. */
export function importsOf(source: Source): Import[] {
  const found: Import[] = [];
  visitNodes(source.syntax, (node) => {
    const target = importTarget(node);
    if (target === undefined) return;
    const { module, typeOnly } = target;
    const specifier = module && isStringLiteralLikeNode(module) ? module.text : undefined;
    found.push({ specifier, typeOnly, line: lineOf(source, node) });
  });
  return found;
}

function importTarget(node: Node): { module: Node | undefined; typeOnly: boolean } | undefined {
  if (isImportDeclaration(node)) {
    const typeOnly = node.importClause?.phaseModifier === SyntaxKind.TypeKeyword;
    return { module: node.moduleSpecifier, typeOnly };
  }
  if (isExportDeclaration(node))
    return node.moduleSpecifier && { module: node.moduleSpecifier, typeOnly: node.isTypeOnly };
  if (isImportTypeNode(node)) {
    return { module: isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, typeOnly: true };
  }
  const isDynamic = isCallExpression(node) && node.expression.kind === SyntaxKind.ImportKeyword;
  return isDynamic ? { module: node.arguments[0], typeOnly: false } : undefined;
}

/** Returns the first argument of a call or a construction of `name`, or `undefined` if `node` is neither. */
export function argumentOf(node: Node, name: string): Node | undefined {
  const calls = isCallExpression(node) || isNewExpression(node);
  return calls && node.expression.getText() === name ? node.arguments?.[0] : undefined;
}
