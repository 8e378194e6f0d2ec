/** Tests that a read-only worker and a reading call leave the folder unchanged, including its time stamps. */
import { afterAll, expect, test } from "bun:test";
import { statSync, utimesSync } from "node:fs";
import { defaultSubjects, runCoder } from "../harness/subject.ts";
import { projectOf, removeProjects, serving } from "./projects.ts";

afterAll(removeProjects);

const shell = ["--worker", "shell"];

const ways = [
  ["mcp --read-only", ["mcp", "--read-only"]],
  ["mcp --read-only of shell", ["mcp", "--read-only", ...shell]],
  ["call of a reading function", ["call", "coder::read-file", '{"path":"a/.env"}', "--read-only"]],
  ["call without --read-only", ["call", "coder::list-folder", "{}"]],
  ["call of shell", ["call", "shell::list", "{}", ...shell]],
  ["serve --read-only", []],
] as const;

test.each(defaultSubjects.flatMap((subject) => ways.map(([name, args]) => [subject, name, args] as const)))(
  "%s: %s",
  async (subject, _, args) => {
    const cwd = projectOf({});
    utimesSync(cwd, 1e9, 1e9);
    const named = [...args, "--base-path", "."];
    const { stderr } = await (args.length > 0
      ? runCoder(subject, named, { cwd })
      : serving(subject, [...named, "--read-only"], { cwd }));
    expect(statSync(cwd).mtimeMs).toBe(1e12);
    // The sweep would remove temporary files of killed processes, which is a change.
    expect(stderr).not.toContain("swept");
  },
);
