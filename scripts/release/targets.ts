import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../build.ts";

/** What is put together with the program. Its version is the one that package-lock.json has for `package`. */
export interface TargetRuntime {
  readonly package: string;
  /** Its path in the package. */
  readonly file: "bin/bun" | "bin/node";
  /** What bun calls the machine, for a runtime that is bun. */
  readonly compileTarget?: Bun.Build.CompileTarget;
}

/** How an artefact is tried on Debian for x64. */
export type Smoke =
  | {
      readonly how: "run";
      /**
       * Each a command that the executable becomes an argument of; none is the machine itself. An emulator is that of the
       * oldest processor that the target is for. `{musl}` is the folder that `musl` makes.
       */
      readonly launchers: readonly (readonly string[])[];
      /** The packages of Debian that this takes. */
      readonly debian: readonly string[];
      readonly musl?: Musl;
    }
  /** Its headers and signature are read; it cannot be run. */
  | { readonly how: "read"; readonly because: string };

/** The C and C++ libraries of a system with musl. */
export interface Musl {
  /** What Debian calls the kind of processor. */
  readonly architecture: string;
  /** The command that compiles C for it. */
  readonly compiler: string;
}

/** A kind of machine that the program is released for: an entry of targets.json. */
export interface ReleaseTarget {
  /** Its name in the file names of a release, such as `x86_64-unknown-linux-gnu`. */
  readonly triple: string;
  readonly runtime: TargetRuntime;
  /** What has to be on the machine, as a phrase for people. */
  readonly needs: string;
  /** The same as the executable has it: see `Machine`. */
  readonly asksFor: readonly string[];
  readonly smoke: Smoke;
}

const entries: Readonly<Record<string, Omit<ReleaseTarget, "triple">>> = JSON.parse(
  readFileSync(join(root, "targets.json"), "utf8"),
);

/** All targets, in the order of targets.json. */
export const targets: readonly ReleaseTarget[] = Object.entries(entries).map(([triple, entry]) => ({
  triple,
  ...entry,
}));

/** The targets named in a list such as `a,b`; all of them when there is none. Throws for a name that is none. */
export function chooseTargets(names: string | undefined): readonly ReleaseTarget[] {
  if (names === undefined) return targets;
  return names.split(",").map((name) => {
    const target = targets.find(({ triple }) => triple === name);
    if (target === undefined)
      throw new Error(`${name} is no target; they are ${targets.map(({ triple }) => triple).join(", ")}`);
    return target;
  });
}
