import { about } from "../../base/about.ts";
import { validate } from "../../base/schema/validate.ts";
import type { WorkerDefinition } from "../contract/definition.ts";

/** The target that this executable was built for, inserted by the build. */
declare const CODER_TARGET: string | undefined;

/** The name of shell's manifest, which is that of its program (shell §4) and lists its functions. */
const shellName = "iii-shell";

/** Renders the registry manifest, as `--manifest` prints it (bus §8). */
export function renderManifest({ name, description, configSchema, functions }: WorkerDefinition): object {
  return {
    name: name === "shell" ? shellName : name,
    version: about.version,
    description,
    ...(name === "shell" && { functions: functions.map(({ id, description }) => ({ id, description })) }),
    default_config: validate(configSchema, {}, { unknownKeys: "refuse" }),
    supported_targets: [typeof CODER_TARGET === "undefined" ? thisMachine() : CODER_TARGET],
  };
}

/** Returns the target triple of the machine that runs the sources. */
function thisMachine(): string {
  const processor = { x64: "x86_64", arm64: "aarch64", arm: "armv7" }[process.arch as string] ?? process.arch;
  if (process.platform === "darwin") return `${processor}-apple-darwin`;
  return processor === "armv7"
    ? "armv7-unknown-linux-gnueabihf"
    : `${processor}-unknown-${process.platform}-gnu`;
}
