/**
 * A greedy caller for fairness.ts, as a program of its own. It keeps a number of searches outstanding until
 * it is killed.
 */
import { openClient } from "./programs.ts";

const [url = "", outstanding = "0", payload = "{}"] = process.argv.slice(2);
const client = openClient(url);

async function keepSearching(): Promise<void> {
  const call = { function_id: "coder::search", payload: JSON.parse(payload), timeoutMs: 60_000 };
  // The worker refuses searches that wait for too long. They are sent again.
  for (;;) await client.trigger(call).catch(() => new Promise((resolve) => setTimeout(resolve, 100)));
}

const searches = Array.from({ length: Number(outstanding) }, keepSearching);
process.stdout.write("sent\n");
await Promise.all(searches);
