/** The verbs over a sandbox, for tests. */
import { lstatSync, readFileSync } from "node:fs";
import { type Snapshot, snapshotTree, type Tree, treeOf } from "../../../tests/harness/tree.ts";
import { type Reason, Refusal } from "../../base/errors.ts";
import { type Deadline, deadlineIn } from "../../base/scheduling/deadline.ts";
import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import type { Pace } from "../../base/scheduling/walk-slice.ts";
import { type Disk, type DiskOptions, openDisk } from "../disk/disk.ts";
import type { Requester } from "../disk/mutation.ts";
import type { BackendName, Jail } from "../jail/folder.ts";
import { JailFixture } from "../jail/jail.test-kit.ts";
import { DiskTree } from "../operations/disk-tree.ts";
import { type DiskVerbs, diskVerbsOn } from "../operations/verbs.test-kit.ts";
import { type Files, filesOver } from "./files.ts";
import type { FilesConfig } from "./types.ts";

type FixtureOptions = FilesConfig & Pick<DiskOptions, "listeners">;

export class FilesFixture extends JailFixture {
  readonly jailed: Jail;
  readonly disk: Disk;
  readonly diskTree: DiskTree;
  readonly files: Files & DiskVerbs & Pick<DiskTree, "sweep">;
  readonly deadline: Deadline = deadlineIn(Number.POSITIVE_INFINITY);
  /** The caller of the verbs. */
  readonly call: Requester = { deadline: this.deadline, functionId: "test::call", caller: "tester" };
  readonly listenerErrors: unknown[] = [];
  readonly pace: Pace = { slice: createTimeSlice(5), deadline: this.deadline };

  constructor(backend: BackendName, tree: Tree = {}, options: Partial<FixtureOptions> = {}) {
    super(tree);
    const { listeners = [], ...config } = options;
    this.jailed = this.jail(backend, ["**/.env", "**/*.pem", "**/secrets/**"]);
    this.disk = openDisk({
      jail: this.jailed,
      config: { max_write_bytes: 1000, fsync: false, ...config },
      listeners,
      onListenerError: (error) => this.listenerErrors.push(error),
    });
    this.diskTree = new DiskTree(this.disk);
    const { diskTree } = this;
    this.files = {
      ...filesOver(this.jailed, (folder, entries) => diskTree.sweepFolder(folder, entries)),
      ...diskVerbsOn(diskTree),
      sweep: (stop) => diskTree.sweep(stop),
    };
  }

  text(path: string): string {
    return readFileSync(this.at(path), "utf8");
  }

  mode(path: string): number {
    return lstatSync(this.at(path)).mode & 0o7777;
  }

  /** Returns everything, including modes and the folders around the base. */
  snapshot(): Snapshot {
    return snapshotTree(this.root);
  }

  /** Returns everything outside the base. */
  outside(): Snapshot {
    return new Map([...this.snapshot()].filter(([key]) => key.startsWith("../")));
  }

  /** Returns the contents of the base, without modes. */
  tree(): Tree {
    return treeOf(this.snapshot());
  }
}

/** Returns the reason why `act` is refused. Other errors are rethrown. */
export async function reasonOf(act: () => unknown): Promise<Reason | "done"> {
  try {
    await act();
    return "done";
  } catch (error) {
    if (error instanceof Refusal) return error.reason;
    throw error;
  }
}
