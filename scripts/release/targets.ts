import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../build.ts";

/** The runtime that is combined with the program, in the version that package-lock.json has for `package`. */
export interface TargetRuntime {
  readonly package: string;
  /** The path in the package. */
  readonly file: "bin/bun" | "bin/node";
  /** The machine's name in bun, for a runtime that is bun. */
  readonly compileTarget?: Bun.Build.CompileTarget;
}

/** The way to try an artefact on Debian for x64. */
export type Smoke =
  | {
      readonly how: "run";
      /**
       * The commands that get the executable as an argument; an empty one is this machine itself. An emulator
       * is that of the oldest processor that the target is for. `{musl}` is the folder that `musl` makes.
       */
      readonly launchers: readonly (readonly string[])[];
      /** The packages of Debian that this requires. */
      readonly debian: readonly string[];
      readonly musl?: Musl;
    }
  /** Its headers and signature are read; it cannot be run. */
  | { readonly how: "read"; readonly because: string };

/** The C and C++ libraries of a system with musl. */
export interface Musl {
  /** Debian's name for the kind of processor. */
  readonly architecture: string;
  /** The command that compiles C for it. */
  readonly compiler: string;
}

/** A kind of machine that the program is released for: an entry of targets.json. */
export interface ReleaseTarget {
  /** Its name in the file names of a release, such as `x86_64-unknown-linux-gnu`. */
  readonly triple: string;
  readonly runtime: TargetRuntime;
  /** The requirements of the machine, as a phrase for people. */
  readonly needs: string;
  /** The requirements that the executable itself declares; see `Machine`. */
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

/**
 * Returns the targets named in a list such as `a,b`, or all of them without a list. Throws for an unknown
 * name.
 */
export function chooseTargets(names: string | undefined): readonly ReleaseTarget[] {
  if (names === undefined) return targets;
  return names.split(",").map((name) => {
    const target = targets.find(({ triple }) => triple === name);
    if (target === undefined)
      throw new Error(`${name} is no target; they are ${targets.map(({ triple }) => triple).join(", ")}`);
    return target;
  });
}
