import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Case } from "./case.ts";

const folder = join(import.meta.dirname, "cases");

const casesIn = async (file: string): Promise<readonly Case[]> =>
  ((await import(join(folder, file))) as { readonly cases: readonly Case[] }).cases;

/** `read-file.ts` has the cases of the published reference, `read-file.windows.ts` those of something that came later. */
export const functionOf = (file: string): string => `coder::${file.slice(0, file.indexOf("."))}`;

const files = readdirSync(folder).sort();

/** All cases, by the function they call, for which their files are named. */
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
