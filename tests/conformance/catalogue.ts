import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Case } from "./case.ts";

const folder = join(import.meta.dirname, "cases");

const casesIn = async (file: string): Promise<readonly Case[]> =>
  ((await import(join(folder, file))) as { readonly cases: readonly Case[] }).cases;

/** All cases, by the function they call, for which their file is named. */
export const catalogue: Readonly<Record<string, readonly Case[]>> = Object.fromEntries(
  await Promise.all(
    readdirSync(folder)
      .sort()
      .map(async (file) => [`coder::${file.replace(".ts", "")}`, await casesIn(file)] as const),
  ),
);
