import type { ShellCase } from "./case.ts";
import { cases as exec } from "./cases/exec.ts";
import { cases as fsChanges } from "./cases/fs-changes.ts";
import { cases as fsChannels } from "./cases/fs-channels.ts";
import { cases as fsPaths } from "./cases/fs-paths.ts";
import { cases as fsText } from "./cases/fs-text.ts";
import { cases as jobs } from "./cases/jobs.ts";
import { cases as sandbox } from "./cases/sandbox.ts";

/** All cases of the table in section 12 of the shell specification that run over the bus. */
export const shellCatalogue: readonly ShellCase[] = [
  ...exec,
  ...jobs,
  ...fsPaths,
  ...fsChanges,
  ...fsText,
  ...fsChannels,
  ...sandbox,
];
