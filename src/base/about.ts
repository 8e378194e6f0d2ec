import { description, name, version } from "../../package.json";

/** The name, version and description of this program. */
export const about = { name, version, description } as const;

/** The package of the launcher in the registry of npm. */
export const npmPackage = "@iii-hq/coder";

/** The workers in this program; the first is the default. */
export const workerNames = ["coder", "shell"] as const;
export type WorkerName = (typeof workerNames)[number];

/** The purpose of each worker, in a sentence. */
export const descriptions: Readonly<Record<WorkerName, string>> = {
  coder: description,
  shell:
    "Unix exec and filesystem worker for the iii bus: allowlisted commands, background jobs and file operations on one folder of the host, or in a sandbox.",
};

/** The default address of the engine. */
export const defaultUrl = "ws://127.0.0.1:49134";
