import type { FunctionDefinition } from "../calls/contract/definition.ts";
import { withFsScope } from "../calls/contract/fs-scope.ts";
import { exec } from "./exec.ts";
import { execBg } from "./exec_bg.ts";
import { chmod } from "./fs/chmod.ts";
import { grep } from "./fs/grep.ts";
import { ls } from "./fs/ls.ts";
import { mkdir } from "./fs/mkdir.ts";
import { mv } from "./fs/mv.ts";
import { read } from "./fs/read.ts";
import { rm } from "./fs/rm.ts";
import { sed } from "./fs/sed.ts";
import { stat } from "./fs/stat.ts";
import { write } from "./fs/write.ts";
import { kill } from "./kill.ts";
import { list } from "./list.ts";
import { status } from "./status.ts";

/** The functions of `shell`, in the order of the published reference. */
export const shellFunctions: readonly FunctionDefinition[] = [
  mv,
  mkdir,
  write,
  chmod,
  grep,
  exec,
  execBg,
  read,
  kill,
  sed,
  status,
  rm,
  ls,
  stat,
  list,
].map(withFsScope);
