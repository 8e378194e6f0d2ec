/** A worker whose event loop hangs ends by itself, so that its supervisor can start another. */
import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const never = 24 * 60 * 60_000;

function hang(warnMilliseconds: number, endMilliseconds: number) {
  const program = join(import.meta.dirname, "hang.ts");
  const child = spawn(process.execPath, [program, `${warnMilliseconds}`, `${endMilliseconds}`]);
  let log = "";
  let onLine = () => {};
  const warned = new Promise<void>((resolve) => {
    onLine = resolve;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
    if (log.includes("\n")) onLine();
  });
  return {
    child,
    warned,
    lines: () =>
      log
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
  };
}

test("it ends with EX_SOFTWARE, and says what it was at, without contents", async () => {
  const { child, lines } = hang(never, 300);
  const [code, signal] = await once(child, "close");
  expect([code, signal]).toEqual([70, null]);
  expect(lines()).toMatchObject([
    { level: "error", function: "coder::read-file", path: "net/secret\nname.txt" },
  ]);
  expect(JSON.stringify(lines())).not.toContain("CONTENT");
});

test("before that it warns, and SIGTERM is obeyed all the same", async () => {
  const { child, warned, lines } = hang(100, never);
  await warned;
  child.kill("SIGTERM");
  const [code, signal] = await once(child, "close");
  expect([code, signal]).toEqual([null, "SIGTERM"]);
  expect(lines()).toMatchObject([{ level: "warn", function: "coder::read-file" }]);
});
