import type { Subject } from "../subject.ts";
import { engineVariable, startExecutable, type TestEngine } from "./executable.ts";
import { startProduction } from "./production-router.ts";

/**
 * Starts the engine for the suites: the executable that `npm run suite -- engine` names in the environment,
 * otherwise the embedded one. That one lets the calls to the sources overtake each other like the production
 * engine, and keeps those to the executable in order, so that every case runs both ways.
 */
export function startTestEngine(subject: Subject, { port = 0 } = {}): Promise<TestEngine> {
  const executable = process.env[engineVariable];
  if (executable !== undefined) return startExecutable(executable, port);
  return startProduction({ port, delivery: deliveryTo(subject) });
}

/** Returns the order in which the embedded engine delivers calls to the subject. */
export const deliveryTo = (subject: Subject): "in-order" | "out-of-order" =>
  subject === "source" ? "out-of-order" : "in-order";
