/** Creates CALLS folders in the tree at BASE, each named NAME and a number, with a journal in STATE. */
import { openJournaled } from "./journaled.ts";

const { BASE: base = "", STATE: state = "", NAME: name = "", CALLS: calls = "" } = process.env;
const { call, runtime, logged } = await openJournaled(base, state);
for (let number = 0; number < Number(calls); number++)
  await call("coder::make-folder", { paths: [`${name}${number}`] });
await runtime.close();
if (logged.length > 0) throw new Error(logged.join("\n"));
