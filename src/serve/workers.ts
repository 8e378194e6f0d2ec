import { descriptions, type WorkerName } from "../base/about.ts";
import type { Log } from "../base/log/log.ts";
import type {
  Commands,
  FunctionDefinition,
  OpenOptions,
  Reloading,
  Runtime,
  WorkerDefinition,
} from "../calls/contract/definition.ts";
import { changed } from "../coder/changes/changed.ts";
import { withRoots } from "../coder/config/roots-config.ts";
import { type Config, configSchema, fixedKeys } from "../coder/config.ts";
import { coderMeanings, coderReasons } from "../coder/error-codes.ts";
import { functions } from "../coder/functions.ts";
import { profileTable } from "../coder/profiles.ts";
import type { CoderRuntime } from "../coder/services.ts";
import type { ConfigSource } from "../config/arguments/arguments.ts";
import { requireSame } from "../config/file.ts";
import { configFiles, findConfig, type Mode, requireNamedBase } from "../config/source.ts";
import { ConfigStatus } from "../config/status.ts";
import { commandFunctions, shellConfigFor } from "../shell/commands.ts";
import { shellConfigSchema } from "../shell/config.ts";
import { shellMeanings } from "../shell/error-codes.ts";
import { shellFunctions } from "../shell/functions.ts";
import { jobFinished } from "../shell/job-finished.ts";
import { shellProfileTable } from "../shell/profiles.ts";

/** The workers in this program. All differences between them derive from this list. */
export const workers: Readonly<Record<WorkerName, WorkerDefinition>> = {
  coder: {
    name: "coder",
    description: descriptions.coder,
    functions,
    triggers: [changed],
    configSchema,
    isReloadable: true,
    profiles: profileTable,
    errors: {
      introduction: [
        'An error is one line of JSON, `{"code":"C2xx","message":"…","reason":"…"}`. The message says what was given, why it is refused, and the next call that would work; `reason` is one of the words below, for programs; `details`, where there are any, are what a call can be repaired with.',
        "A call that fails as a whole fails the invocation: a client of the bus sees `invocation_failed` with the message `handler error: ` and that JSON. In a batch each entry stands alone: its result has `success: false` and that JSON as `error`: as a string in the functions of the published reference, as an object in those that came later.",
        `The reasons: ${coderReasons.map((reason) => `\`${reason}\``).join(", ")}.`,
      ],
      meanings: coderMeanings,
    },
    async open(options) {
      const { loadConfig, openCoder, warnAboutGlobs: warnAbout } = await import("../coder/services.ts");
      const config = loadConfig(options);
      if (options.reloading?.config !== undefined) requireSame(config, options.reloading.config, fixedKeys);
      requireNamedBase(options);
      warnAbout(config, options.log);
      const { readOnly } = options;
      if (config.commands !== null) {
        const { requireUsableValues } = await import("../shell/usable-values.ts");
        const { source } = options.config;
        const isReload = options.reloading?.config !== undefined;
        await requireUsableValues(config.commands, { source, below: "commands", isReload });
      }
      const hasCommands = offersCommands(config, options);
      const coder = await openCoder(config, {
        ...options,
        functionIds: idsOf(offeredFunctions({ worker: "coder", readOnly, hasCommands })),
      });
      if (!hasCommands) return coder;
      try {
        return withCommands(coder, await openCommands(coder, options));
      } catch (error) {
        await coder.close();
        throw error;
      }
    },
  },
  shell: {
    name: "shell",
    description: descriptions.shell,
    functions: shellFunctions,
    triggers: [jobFinished],
    configSchema: shellConfigSchema,
    profiles: shellProfileTable,
    errors: {
      introduction: [
        'A call that fails fails the invocation: a client of the bus sees `invocation_failed` with the message `handler error: ` and either one line of JSON, `{"code":"S2xx","message":"…"}`, or a sentence without a code.',
        "A sentence is the answer of `shell::exec`, `shell::exec_bg`, `shell::status` and `shell::kill` to a payload that does not fit, a command that may not run and a job that is not there. Everything else has a code. Codes that are not below are those of the sandbox worker, passed on.",
        "In the profile `agent` these four answer a payload with S210 that is not an object, has an unknown field or a field larger than its bound, or fits only the looser reading of 0.3.5, such as a negative `timeout_ms`. An unknown field has `reason`, which is `unknown_field`, and `details` besides.",
      ],
      meanings: shellMeanings,
    },
    async open(options) {
      const [{ loadShellConfig }, { openShell }, { requireUsableValues }] = await Promise.all([
        import("../shell/config.ts"),
        import("../shell/services.ts"),
        import("../shell/usable-values.ts"),
      ]);
      const config = loadShellConfig(options);
      await requireUsableValues(config, { source: options.config.source });
      return await openShell(config, options);
    },
  },
};

/**
 * Returns whether commands are offered: over MCP, if the configuration or the command line enables them and
 * calls may write.
 */
const offersCommands = (
  { commands }: Config,
  { mode, readOnly, ...line }: Pick<OpenOptions, "mode" | "readOnly" | "commands">,
): boolean => mode === "mcp" && !readOnly && (commands !== null || line.commands !== undefined);

/** Opens the services of commands in the tree of the coder worker. */
async function openCommands(coder: CoderRuntime, { commands, ...options }: OpenOptions) {
  const { config, profileName: profile, jail } = coder;
  const { openShell } = await import("../shell/services.ts");
  const { unknown_fields, max_answer_bytes, audit, journal } = config;
  const shared = { profile, unknown_fields, max_answer_bytes, audit, journal };
  const rootsThat = (areReadOnly: boolean) =>
    jail.roots.filter(({ isReadOnly }) => isReadOnly === areReadOnly).map(({ hostPath }) => hostPath);
  const ofRoots = (config.roots ?? []).flatMap(({ name, non_accessible_globs: globs }) =>
    globs.map((glob) => (jail.hasTop ? `${name}/${glob}` : glob)),
  );
  const denyGlobs = [...config.non_accessible_globs, ...ofRoots];
  const writeDenyGlobs = config.write_deny_globs ?? coder.profile.write_deny_globs;
  const tree = { ...coder, writable: rootsThat(false), readOnly: rootsThat(true), denyGlobs, writeDenyGlobs };
  const folder = jail.roots[0]!.hostPath;
  const commandConfig = shellConfigFor(config.commands, { allow: commands?.allow ?? [], folder, shared });
  return openShell(commandConfig, { ...options, tree });
}

/** Returns one worker with the functions of both. */
function withCommands(coder: CoderRuntime, shell: Runtime): Runtime {
  const family = { ...shell, quotas: coder.quotas, approvals: coder.approvals };
  const ids = new Set(idsOf(commandFunctions));
  return {
    ...coder,
    ...(shell.commandRules && { commandRules: shell.commandRules }),
    startRoot: shell.startRoot,
    familyOf: ({ id }) => (ids.has(id) ? family : coder),
    callMilliseconds: Math.max(coder.callMilliseconds, shell.callMilliseconds),
    interrupt: async () => {
      await Promise.all([shell.interrupt?.(), coder.interrupt?.()]);
    },
    async close() {
      await shell.close();
      await coder.close();
    },
  };
}

const idsOf = (offered: readonly FunctionDefinition[]): string[] => offered.map(({ id }) => id);

/** The options of opening a worker. */
export interface Opening extends ConfigSource {
  readonly name: Mode;
  readonly commands?: Commands | undefined;
  readonly approval?: OpenOptions["approval"];
  readonly onlyReads?: OpenOptions["onlyReads"];
}

/** Opens the worker that the command line names. Throws an Error of one sentence if it cannot. */
export async function openWorker(
  opening: Opening,
  log: Log,
  reloading: Reloading = { status: new ConfigStatus() },
): Promise<Runtime> {
  const { worker, configFile: named, basePath, folders, name: mode, readOnly, environment } = opening;
  const { commands, approval, onlyReads } = opening;
  const definition = workers[worker];
  const keys = Object.keys(definition.configSchema.properties);
  const found = await findConfig({ worker, keys, mode, named, environment, log });
  const config = folders === undefined ? found : withRoots(found, folders);
  return definition.open({
    config,
    configFiles: configFiles({ named, environment }),
    mode,
    readOnly,
    onlyReads,
    basePath,
    environment,
    log,
    reloading,
    commands,
    approval,
  });
}

/**
 * Returns the functions that a caller gets: with `readOnly` those that cannot change anything; over MCP those
 * that need no bus and, unless `tools` is "all", are not rare; with `hasCommands` also those for commands.
 */
export function offeredFunctions({
  worker,
  readOnly,
  name,
  tools,
  hasCommands = false,
}: Pick<ConfigSource, "worker" | "readOnly"> & {
  readonly name?: Mode;
  readonly tools?: "usual" | "all";
  readonly hasCommands?: boolean;
}): readonly FunctionDefinition[] {
  const isOverMcp = name === "mcp";
  const { functions: own } = workers[worker];
  const all = hasCommands && worker === "coder" ? [...own, ...commandFunctions] : own;
  return all.filter(
    ({ effect, needsBus = false, isRare = false }) =>
      (!readOnly || effect === "reads") && !(isOverMcp && (needsBus || (isRare && tools !== "all"))),
  );
}
