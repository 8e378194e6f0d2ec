import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Case } from "./case.ts";

const folder = join(import.meta.dirname, "cases");

const casesIn = async (file: string): Promise<readonly Case[]> =>
  ((await import(join(folder, file))) as { readonly cases: readonly Case[] }).cases;

/**
 * Returns the function that a file of cases is about. `read-file.ts` has the cases of the published
 * reference, and `read-file.lines.ts` has cases of later fields.
 */
export const functionOf = (file: string): string => `coder::${file.slice(0, file.indexOf("."))}`;

const files = readdirSync(folder).sort();

/** All cases by function. The name of a file of cases begins with the name of its function. */
export const catalogue: Readonly<Record<string, readonly Case[]>> = Object.fromEntries(
  await Promise.all(
    [...new Set(files.map(functionOf))].map(
      async (id) =>
        [
          id,
          (await Promise.all(files.filter((file) => functionOf(file) === id).map(casesIn))).flat(),
        ] as const,
    ),
  ),
);
