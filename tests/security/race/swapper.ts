/**
 * Swaps like swapper.c, for machines without a C compiler: slower, and with moments when a name is missing.
 */
import { renameSync } from "node:fs";

const [how, one = "", other = ""] = process.argv.slice(2);
const between = `${one}-between`;
let swaps = 0;
const said = new Set<string>();
let isStopped = false;
process.on("SIGTERM", () => {
  isStopped = true;
});

function moved(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

function swap(): void {
  if (how === "move") {
    if (moved(one, other)) swaps++;
    if (moved(other, one)) swaps++;
    return;
  }
  moved(one, between);
  moved(other, one);
  if (moved(between, other)) swaps++;
}

function say(line: string): void {
  if (said.has(line)) return;
  said.add(line);
  console.log(line);
}

while (!isStopped) {
  for (let turn = 0; turn < 1000; turn++) swap();
  if (swaps > 0) say("begun");
  if (swaps > 10) say("many");
  await new Promise((resolve) => setImmediate(resolve));
}
console.log(swaps);
