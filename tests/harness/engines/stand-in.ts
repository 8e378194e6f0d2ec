/**
 * A program with the interface of an iii engine and the embedded engine inside, for testing the command that
 * runs the suites on an engine's executable.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { startProduction } from "./production-router.ts";

const { values } = parseArgs({ options: { config: { type: "string" } } });
const { workers } = parse(readFileSync(values.config ?? "config.yaml", "utf8"));
const [{ name, config }] = workers as [{ name: string; config: { host: string; port: number } }];
if (
  name !== "iii-worker-manager" ||
  config.host !== "127.0.0.1" ||
  process.env["III_TELEMETRY_ENABLED"] !== "false"
)
  throw new Error("not started as an engine of iii is to be started");
const engine = await startProduction({ port: config.port, delivery: "out-of-order" });
process.once("SIGTERM", () => void engine.stop());
