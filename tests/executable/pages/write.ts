/** `npm run suite -- pages`: updates the output of the commands on the pages of the documents. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../../harness/subject.ts";
import { runPage, runPages, withoutTimes } from "./run-page.ts";

for (const name of runPages) {
  const path = join(repository, name);
  const page = readFileSync(path, "utf8");
  const current = await runPage(page);
  if (withoutTimes(current) !== withoutTimes(page)) writeFileSync(path, current);
}
