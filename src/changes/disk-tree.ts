import type { Disk } from "../disk/disk.ts";
import type { Requester } from "../disk/mutation.ts";
import { changeModeOf } from "./mode-of-tree.ts";
import type { ModeStep, WritableTree } from "./tree.ts";

/** The tree on the disk, which makes each step at once. */
export class DiskTree implements WritableTree {
  readonly jail: Disk["jail"];
  readonly config: Disk["config"];
  readonly #disk: Disk;

  constructor(disk: Disk) {
    this.#disk = disk;
    this.jail = disk.jail;
    this.config = disk.config;
  }

  setPermissions(step: ModeStep, requester: Requester): Promise<number> {
    return changeModeOf(this.#disk, step, requester);
  }
}
