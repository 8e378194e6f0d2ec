/** Files over a sandbox, for tests. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { type Reason, Refusal } from "../errors.ts";
import type { BackendName, Jail } from "../jail/folder.ts";
import { JailFixture, type Plan } from "../jail/jail.test-kit.ts";
import { type Deadline, deadlineIn } from "../scheduling/deadline.ts";
import { createTimeSlice } from "../scheduling/time-slice.ts";
import type { Pace } from "../scheduling/walk-slice.ts";
import { createFiles, type Files, type FilesOptions } from "./files.ts";
import type { Requester } from "./mutation.ts";
import type { FilesConfig } from "./types.ts";

type FixtureOptions = FilesConfig & Pick<FilesOptions, "listeners">;

export class FilesFixture extends JailFixture {
  readonly jailed: Jail;
  readonly files: Files;
  readonly deadline: Deadline = deadlineIn(60_000);
  /** Who asks. */
  readonly call: Requester = { deadline: this.deadline, functionId: "test::call", caller: "tester" };
  readonly listenerErrors: unknown[] = [];
  readonly pace: Pace = { slice: createTimeSlice(5), deadline: this.deadline };

  constructor(backend: BackendName, plan: Plan = {}, options: Partial<FixtureOptions> = {}) {
    super(plan);
    const { listeners = [], ...config } = options;
    this.jailed = this.jail(backend, ["**/.env", "**/*.pem", "**/secrets/**"]);
    this.files = createFiles({
      jail: this.jailed,
      config: { max_write_bytes: 1000, fsync: false, ...config },
      listeners,
      onListenerError: (error) => this.listenerErrors.push(error),
    });
  }

  text(path: string): string {
    return readFileSync(this.at(path), "utf8");
  }

  mode(path: string): number {
    return lstatSync(this.at(path)).mode & 0o7777;
  }

  /** Everything below a folder: names with their text, link target or kind. */
  snapshot(path = ""): Record<string, string> {
    const found: Record<string, string> = {};
    for (const dirent of readdirSync(this.at(path), { withFileTypes: true })) {
      const inner = join(path, dirent.name);
      if (dirent.isDirectory()) Object.assign(found, { [`${inner}/`]: "" }, this.snapshot(inner));
      else if (dirent.isSymbolicLink()) found[inner] = `-> ${readlinkSync(this.at(inner))}`;
      else found[inner] = dirent.isFile() ? this.text(inner) : "special";
    }
    return found;
  }
}

/** The reason for which `act` is refused; what is no refusal is thrown on. */
export async function reasonOf(act: () => unknown): Promise<Reason | "done"> {
  try {
    await act();
    return "done";
  } catch (error) {
    if (error instanceof Refusal) return error.reason;
    throw error;
  }
}
