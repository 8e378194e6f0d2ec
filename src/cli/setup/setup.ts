/** `coder setup CLIENT`: adds this server to the configuration of a client of MCP, or removes it. */
import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { about, npmPackage } from "../../base/about.ts";
import { maxSimilar } from "../../base/similar-name.ts";
import type { Command } from "../../config/arguments/arguments.ts";
import { UsageError } from "../../config/arguments/usage-error.ts";
import { ConfigError } from "../../config/file.ts";
import { type FoundConfig, readNamed } from "../../config/source.ts";
import { type Client, type ClientHost, clients, startWords } from "./clients.ts";
import { readConfigText, replaceConfigText } from "./config-file.ts";
import { entryIn, withEntry } from "./document.ts";
import { type Mapping, Unchangeable } from "./syntax.ts";

export type SetupCommand = Extract<Command, { readonly name: "setup" }>;

/** The entry of this server, and its place in the file of a client. */
interface Entry {
  readonly client: Client;
  readonly file: string;
  readonly path: readonly string[];
  readonly fields: Readonly<Mapping>;
  /** The served folders, for the user. */
  readonly served: string;
}

/**
 * Carries out the command and returns the text for the user. Throws a `UsageError`, or an Error of one
 * sentence if the file stays unchanged for another reason.
 */
export async function runSetup(command: SetupCommand): Promise<string> {
  const config = command.configFile === undefined ? undefined : await requireConfig(command.configFile);
  const entry = entryOf(command, config);
  try {
    if (command.isPrint) return await printEntry(entry);
    return await (command.isRemove ? removeEntry(entry) : addEntry(entry));
  } catch (error) {
    throw new Error(`${entry.file} was not changed: ${reasonOf(error)}.${advice(error, entry)}`);
  }
}

function entryOf(command: SetupCommand, config: FoundConfig | undefined): Entry {
  const { client: name, basePath, folders: several, serverArguments, environment } = command;
  const client = clientNamed(name);
  const hasRoots = (config?.keys["roots"] ?? null) !== null;
  if (hasRoots && (basePath ?? several) !== undefined)
    throw new UsageError(
      `${config!.source}: roots: is given, and so are folders on the command line; leave one of them out`,
    );
  const folders = several?.map(folderAt) ?? [folderAt(basePath ?? ".")];
  const [folder = ""] = folders;
  const home = environment["HOME"] || homedir();
  if (
    basePath === undefined &&
    several === undefined &&
    [home, "/"].some((place) => realOr(place) === folder)
  )
    throw new UsageError(
      `the current folder is ${folder}; start setup in the folder to serve, or name one with --base-path`,
    );
  const place: ClientHost = { platform: process.platform, home, folder, environment };
  const [start = "", ...words] = startWords(process.execPath, npmPackage);
  return {
    client,
    served: hasRoots ? `the roots of ${config!.source}` : folders.join(" and "),
    file: client.file(place),
    path: [...client.keys(place), about.name],
    fields: {
      ...client.fields,
      command: start,
      args: [
        ...words,
        "mcp",
        ...(hasRoots ? [] : several === undefined ? ["--base-path", folder] : folders),
        ...serverArguments,
      ],
    },
  };
}

function clientNamed(name: string): Client {
  const client = Object.hasOwn(clients, name) ? clients[name] : undefined;
  if (client !== undefined) return client;
  const names = Object.keys(clients);
  const meant = maxSimilar(name, names);
  throw new UsageError(
    `setup knows no client ${JSON.stringify(name)}; ${meant === undefined ? "it knows" : `did you mean ${meant}? It knows`} ${names.join(", ")}`,
  );
}

function folderAt(path: string): string {
  try {
    const folder = realpathSync(path);
    if (statSync(folder).isDirectory()) return folder;
  } catch {
    // The sentence below is about a missing folder too.
  }
  const advice = Object.hasOwn(clients, path) ? "; setup takes one client, and then folders" : "";
  throw new UsageError(`${JSON.stringify(path)} is not a folder to serve${advice}`);
}

/** Reads the configuration. Throws a `UsageError` if it cannot: otherwise only the client would show that. */
async function requireConfig(path: string): Promise<FoundConfig> {
  try {
    return await readNamed(path);
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error;
  }
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

async function addEntry({ client, file, path, fields, served }: Entry): Promise<string> {
  const before = readConfigText(file);
  const text = before ?? "";
  const old = await entryIn(text, client.syntax, path);
  const after = await withEntry(text, client.syntax, { path, fields });
  if (after === text) return `${file} already has this entry. ${client.next}\n`;
  const backup = replaceConfigText(file, before, after);
  return lines(
    old === undefined
      ? `Added ${about.name} to ${file}, serving ${served}.`
      : `Changed the entry ${about.name} in ${file}; it serves ${served} now. Before: ${commandLine(old)}`,
    backup && `The file before this change is ${backup}.`,
    !client.isPerFolder &&
      `${client.title} has one entry for all folders: setup in another folder replaces this one.`,
    client.next,
  );
}

async function removeEntry({ client, file, path }: Entry): Promise<string> {
  const before = readConfigText(file);
  const after = await withEntry(before ?? "", client.syntax, { path, fields: undefined });
  if (before === undefined || after === before) return `${file} has no entry ${about.name}.\n`;
  const backup = replaceConfigText(file, before, after);
  return lines(`Removed ${about.name} from ${file}.`, backup && `The file before this change is ${backup}.`);
}

async function printEntry({ client, file, path, fields }: Entry): Promise<string> {
  return `In ${file}:\n\n${await withEntry("", client.syntax, { path, fields })}`;
}

const lines = (...texts: (string | undefined | false)[]): string =>
  texts
    .filter((text) => typeof text === "string")
    .join("\n")
    .concat("\n");

function commandLine({ command, args }: Mapping): string {
  return [command, ...(Array.isArray(args) ? args : [])].map(String).join(" ");
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") return "this user may not write there";
  return message.replaceAll("\n", " ").replace(/\.$/, "");
}

const advice = (error: unknown, { client }: Entry): string =>
  error instanceof Unchangeable
    ? ` Correct it for ${client.title}, or add the entry by hand: --print shows it.`
    : " --print shows the entry.";
