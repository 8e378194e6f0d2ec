import { readFileSync } from "node:fs";

const teas = JSON.parse(readFileSync(new URL("./teas.json", import.meta.url), "utf8"));

const name = process.argv[2] ?? "black";
const tea = teas[name];

if (tea === undefined) {
  console.error(`No such tea: ${name}. There are: ${Object.keys(teas).join(", ")}.`);
  process.exit(1);
}

console.log(`${name}: ${tea.celsius} °C, ${tea.minutes} minutes`);
// TODO: say when one minute is left
setTimeout(() => console.log("Your tea is ready."), tea.minutes * 60_000);
