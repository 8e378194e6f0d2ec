/**
 * A process whose event loop hangs, as in a file system that does not answer, under the watchdog of the worker:
 *
 *     hang.ts WARN_MILLISECONDS END_MILLISECONDS
 */
import { openWatchdog } from "../../src/serve/watchdog/watchdog.ts";

const [warnMilliseconds, endMilliseconds] = process.argv.slice(2).map(Number) as [number, number];
const watchdog = openWatchdog({ tickMilliseconds: 10, warnMilliseconds, endMilliseconds });
process.on("SIGTERM", () => process.exit(0));
watchdog.enter("coder::read-file", { path: "net/secret\nname.txt", content: "CONTENT" });
process.stdout.write("ready\n");
// Not before the runtime has made sure of its signal handler and its thread.
setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 50);
