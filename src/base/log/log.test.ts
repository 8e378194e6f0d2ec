import { expect, test } from "bun:test";
import { createLog, type LogLevel } from "./log.ts";

function lines(level: LogLevel, form: "json" | "text") {
  const written: string[] = [];
  return { written, log: createLog({ level, form, write: (line) => written.push(line) }) };
}

test("drops what is below its level", () => {
  const { log, written } = lines("warn", "json");
  log.info("no");
  log.debug("no");
  log.warn("yes");
  log.error("yes");
  expect(written.map((line) => JSON.parse(line).level)).toEqual(["warn", "error"]);
});

test("writes one line of JSON per event, whatever is in a field", () => {
  const { log, written } = lines("info", "json");
  log.info("call", { function: "a\nb", code: undefined });
  expect(written).toHaveLength(1);
  expect(written[0]?.split("\n")).toHaveLength(2);
  expect(JSON.parse(written[0] as string)).toMatchObject({
    level: "info",
    message: "call",
    function: "a\nb",
  });
});

test("writes one readable line on a terminal", () => {
  const { log, written } = lines("info", "text");
  log.info("call", { function: "coder::tree", note: "two words\nand more", code: undefined });
  expect(written[0]).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} info {2}call function=coder::tree note="two words\\nand more"\n$/,
  );
});

test("shows a terminal nothing that moves its cursor or turns its text", () => {
  const { log, written } = lines("info", "text");
  const hostile = "file:///a\u001b[2K\u001b[1A";
  log.info(`roots\u009b\u007f\u202e\n${hostile}`, {
    roots: hostile,
    bidi: "a\u202eb",
    c1: "\u009b2K",
    plain: "x",
  });
  expect(written[0]).not.toMatch(/[^\n\P{C}]/u);
  expect(written[0]).toEndWith(
    String.raw`roots\u009b\u007f\u202e\nfile:///a\u001b[2K\u001b[1A roots="file:///a\u001b[2K\u001b[1A" bidi="a\u202eb" c1="\u009b2K" plain=x` +
      "\n",
  );
});
