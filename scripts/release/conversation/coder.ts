import { deepStrictEqual } from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Asking, ask } from "./ask.ts";

/** The answer of a function for a batch. */
interface Batch {
  readonly results: readonly { readonly success: boolean }[];
}

interface Found {
  readonly content_matches: readonly { readonly path: string; readonly line: number }[];
}

/** Makes `coder` create, edit, find and delete a file in the empty folder `base`. Throws the first fault. */
export async function talkToCoder(asking: Asking, base: string): Promise<void> {
  const batch = async (id: string, payload: object) => {
    const { results } = await ask<Batch>(asking, id, payload);
    if (!results.every(({ success }) => success)) throw new Error(`${id}: ${JSON.stringify(results)}`);
  };
  const path = "notes/tea.txt";
  await batch("coder::create-file", { files: [{ path, content: "green\nblack\n" }] });
  const ops = [{ op: "replace", pattern: "(?m)^(?P<first>[gb])", replacement: "${first}." }];
  await batch("coder::update-file", { files: [{ path, ops }] });
  deepStrictEqual(readFileSync(join(base, path), "utf8"), "g.reen\nb.lack\n");
  const query = { query: "B\\.(?:l|r)ac", regex: true, ignore_case: true, search_paths: false };
  const { content_matches } = await ask<Found>(asking, "coder::search", query);
  deepStrictEqual(
    content_matches.map(({ path, line }) => ({ path, line })),
    [{ path, line: 2 }],
  );
  await batch("coder::delete-file", { paths: ["notes"], recursive: true });
  deepStrictEqual(existsSync(join(base, "notes")), false);
}
