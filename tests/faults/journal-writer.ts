/** Makes CALLS folders called NAME and a number in the tree at BASE, with a journal in STATE. */
import { openJournaled } from "./journaled.ts";

const { BASE: base = "", STATE: state = "", NAME: name = "", CALLS: calls = "" } = process.env;
const { call, runtime, logged } = await openJournaled(base, state);
for (let number = 0; number < Number(calls); number++)
  await call("coder::make-folder", { paths: [`${name}${number}`] });
await runtime.close();
if (logged.length > 0) throw new Error(logged.join("\n"));
