/**
 * A process whose event loop hangs, as on a file system that does not answer, under the worker's watchdog:
 *
 *     hang.ts WARN_MILLISECONDS END_MILLISECONDS
 */
import { openWatchdog } from "../../src/serve/watchdog/watchdog.ts";

const [warnMilliseconds, endMilliseconds] = process.argv.slice(2).map(Number) as [number, number];
const watchdog = openWatchdog({ tickMilliseconds: 10, warnMilliseconds, endMilliseconds });
process.on("SIGTERM", () => process.exit(0));
watchdog.enter("coder::read-file", { path: "net/secret\nname.txt", content: "CONTENT" });
process.stdout.write("ready\n");
// Gives the runtime time to install its signal handler and to start its thread.
setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 50);
