import { startEngine } from "../../../src/engine/engine.ts";
import type { Subject } from "../subject.ts";
import { engineVariable, startExecutable, type TestEngine } from "./executable.ts";

/**
 * Starts the engine that the suites run on. It is the executable that `npm run suite -- engine` names in the environment;
 * otherwise the embedded one, which lets the calls to the sources overtake each other as the production engine does, and
 * keeps those to the executable in order: so every case runs both ways.
 */
export function startTestEngine(subject: Subject, { port = 0 } = {}): Promise<TestEngine> {
  const executable = process.env[engineVariable];
  if (executable !== undefined) return startExecutable(executable, port);
  return startEngine({ port, delivery: deliveryTo(subject) });
}

/** In which order the embedded engine delivers calls to what is under test. */
export const deliveryTo = (subject: Subject): "in-order" | "out-of-order" =>
  subject === "source" ? "out-of-order" : "in-order";
