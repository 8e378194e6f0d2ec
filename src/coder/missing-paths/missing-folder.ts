import { Refusal } from "../../base/errors.ts";
import { refuseCoder } from "../coder-errors.ts";
import type { CoderContext } from "../define.ts";

interface NewPath {
  readonly path: string;
  readonly parents: boolean;
}

/**
 * Runs `work`, which creates an entry at a path. If it throws because the folder of the path is missing, the
 * error says so in profiles with explained errors.
 */
export async function explainMissingFolder<T>(
  work: () => T | Promise<T>,
  { path, parents }: NewPath,
  { tree: { jail }, profile }: CoderContext,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isAbsent =
      error instanceof Refusal && error.path === path && ["missing", "denied"].includes(error.reason);
    if (parents || !isAbsent || !profile.explained_errors) throw error;
    const folder = /^(.*[^/])\/+[^/]+\/*$/.exec(path)?.[1];
    if (folder === undefined) throw error;
    try {
      jail.admitFolder(folder).close();
    } catch {
      throw refuseCoder.noFolder(path, folder);
    }
    throw error;
  }
}
