/**
 * The rule that files change in few places. A change that is not one of the steps in `src/filesystem/disk`
 * reaches no listener.
 */
import type { Node } from "typescript/unstable/ast";
import {
  isCallExpression,
  isIdentifier,
  isImportDeclaration,
  isImportSpecifier,
  isNamedImports,
  isPropertyAccessExpression,
  isStringLiteralLikeNode,
} from "typescript/unstable/ast/is";
import { lineOf, type Source, visitNodes } from "./syntax.ts";

/** The functions of node:fs that change something, with or without `Sync`. */
const changing =
  /^(?:append|cp|copyFile|l?f?chmod|l?f?chown|f?truncate|[fl]?utimes|link|mkdir|mkdtemp|rename|rm|rmdir|symlink|unlink|write|createWriteStream)/;

/** The flags of open(2) that make or change a file. */
const openingToWrite = /^O_(?:APPEND|CREAT|RDWR|TMPFILE|TRUNC|WRONLY)$/;

/** Finds the places where `source` changes files, or could: a sentence each. */
export function treeChangesIn(source: Source): string[] {
  const found: string[] = [];
  visitNodes(source.syntax, (node) => {
    for (const what of [...importedChanges(node), ...usedChanges(node)])
      found.push(
        `${source.path}:${lineOf(source, node)} ${what}; the tree is changed by src/filesystem/disk`,
      );
  });
  return found;
}

function importedChanges(node: Node): string[] {
  if (!isImportDeclaration(node) || !isStringLiteralLikeNode(node.moduleSpecifier)) return [];
  if (!/^(?:node:)?fs(?:\/promises)?$/.test(node.moduleSpecifier.text)) return [];
  const { importClause } = node;
  if (importClause === undefined || importClause.phaseModifier !== undefined) return [];
  const names = importClause.namedBindings;
  if (names === undefined || !isNamedImports(names)) return ["imports all of node:fs"];
  return names.elements
    .filter(isImportSpecifier)
    .map(({ propertyName, name }) => (propertyName ?? name).text)
    .filter((name) => changing.test(name))
    .map((name) => `imports ${name}`);
}

function usedChanges(node: Node): string[] {
  if (isIdentifier(node) && openingToWrite.test(node.text)) return [`says ${node.text}`];
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return [];
  const { name } = node.expression;
  // These are methods of the jail's handles.
  return name.text === "chmod" || name.text === "chown" ? [`calls ${name.text}`] : [];
}
