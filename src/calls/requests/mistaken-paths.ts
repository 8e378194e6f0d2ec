/**
 * Recognizes paths that are meant for another program: a shell, a browser, an editor. It reveals nothing
 * about the disk.
 */

import type { PathPlaces } from "../contract/definition.ts";

export interface MistakenPath {
  /** The unusual trait of the path, as the end of a sentence. */
  readonly why: string;
  /** The intended path, if it can be reached. */
  readonly instead: string | undefined;
  /** The line number that follows it, if any. */
  readonly line: number | undefined;
  /** The form of a path that can be reached, in a sentence, if it is known and the path is not. */
  readonly form?: string;
}

/** Maximum length of a path that is recognized: the kernel takes no longer one (PATH_MAX). */
const maxPathLength = 4096;

/** Returns the meaning of a path in another form, or `undefined` for a usual path. */
export function readMistakenPath(path: string, places: PathPlaces): MistakenPath | undefined {
  if (path.length > maxPathLength) return undefined;
  if (isOfWindows(path))
    return { why: "is one of Windows", instead: undefined, line: undefined, form: formFor(path, places) };
  const [, , quoted] = /^(["'`])(.+)\1$/s.exec(path) ?? [];
  if (quoted !== undefined) return { why: "is in quotes", instead: quoted, line: undefined };
  if (/^file:\/\//i.test(path))
    return { why: "is a URL", instead: pathFromHost(pathOfUrl(path), places), line: undefined };
  const [, variable, , below = ""] = /^(~|\$\{?(HOME|PWD)\}?)(?:\/(.*))?$/s.exec(path) ?? [];
  if (variable !== undefined) {
    const why = `begins with ${variable}, which is not expanded`;
    return { why, instead: meantBelow(variable, below, places), line: undefined };
  }
  const [, file, line] = /^(.*?[^:/])(?::|#L)(\d{1,7})(?:[:-]L?\d{1,7})?$/s.exec(path) ?? [];
  if (file === undefined) return undefined;
  return { why: "ends with the number of a line", instead: file, line: Number(line) };
}

/** Returns whether a path begins with a drive letter, or with the name of a computer in a network. */
export const isOfWindows = (path: string): boolean => /^(?:[A-Za-z]:[\\/]|\\\\[^\\])/.test(path);

function formFor(path: string, { roots, isAbsolute }: PathPlaces): string {
  if (isAbsolute) return 'Send an absolute path with "/" between names.';
  const names = path.split(/[\\/]+/).slice(1);
  const example = JSON.stringify(
    `${roots.length > 1 ? roots[0]!.prefix : ""}${names.slice(-2).join("/") || "src"}`,
  );
  const from = roots.length > 1 ? "that begins with the name of a root" : "relative to the base folder";
  return `Send a path ${from}, with "/" between names, such as ${example}.`;
}

function pathOfUrl(url: string): string | undefined {
  try {
    return decodeURIComponent(url.replace(/^file:\/\/(?:localhost)?(?=\/)/i, ""));
  } catch {
    return undefined;
  }
}

/** Returns the intended path for one below the home folder, or below the current one. */
function meantBelow(variable: string, below: string, places: PathPlaces): string | undefined {
  const { home, isAbsolute, roots } = places;
  const isHome = !variable.includes("PWD");
  const inRoot = isHome && home !== undefined ? pathFromHost(`${home}/${below}`, places) : undefined;
  if (inRoot !== undefined) return inRoot;
  return isAbsolute || roots.length > 1 || below === "" ? undefined : below;
}

/** Returns a host path as callers send it, or `undefined` if it is in none of the roots. */
function pathFromHost(path: string | undefined, { roots, isAbsolute }: PathPlaces): string | undefined {
  if (path === undefined || !path.startsWith("/") || path.split("/").includes("..")) return undefined;
  for (const { prefix, hostPath } of roots) {
    const top = hostPath.endsWith("/") ? hostPath : `${hostPath}/`;
    if (`${path}/` === top || path === top) return isAbsolute ? path : prefix || ".";
    if (path.startsWith(top)) return isAbsolute ? path : `${prefix}${path.slice(top.length)}`;
  }
  return undefined;
}
