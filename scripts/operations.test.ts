/** The operator's page explains each line of the log above debug. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./build.ts";

const page = readFileSync(join(root, "docs/operations.md"), "utf8");

/** Returns the literal messages of a source, and the constant part of composed ones. */
const messagesIn = (source: string): string[] =>
  [...source.matchAll(/\blog\??\s*\.(?:error|warn|info)\(\s*(?:"([^"]+)"|`([^`]+)`)/gi)].map(
    ([, text = "", template = ""]) => text || template.replace(/^\$\{[^}]*\}/, "").split("${")[0]!,
  );

const messages = new Set(
  [...new Bun.Glob("src/**/*.ts").scanSync(root)]
    .filter((path) => !/\.test\.ts$|test-kit/.test(path))
    .flatMap((path) => messagesIn(readFileSync(join(root, path), "utf8"))),
);

/** The texts in code marks on the page. A long message is shown by its beginning and "…". */
const explained = [...page.matchAll(/`([^`\n]+)`/g)].flatMap(([, text = ""]) =>
  text.split("…").map((part) => part.trim()),
);

test("every message of the log is on the page", () => {
  expect(messages.size).toBeGreaterThan(35);
  const isExplained = (message: string) =>
    explained.some((text) => text.length > 3 && (message.trim().startsWith(text) || text === message.trim()));
  expect([...messages].filter((message) => !isExplained(message))).toEqual([]);
});
