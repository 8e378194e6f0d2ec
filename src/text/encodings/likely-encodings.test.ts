import { expect, test } from "bun:test";
import { createCodec } from "./codec.ts";
import { likelyEncodings } from "./likely-encodings.ts";

const texts = {
  shift_jis: "/* ソースの表を処理する関数 */\nint main() { return 予; }\n",
  "euc-jp": "/* ソースの表を処理する関数 */\n",
  gb18030: "/* 处理表格的函数, 模式 */\nint main();\n",
  big5: "/* 處理表格的函數 */\nint main();\n",
  "euc-kr": "/* 표를 처리하는 함수 */\nint main();\n",
};

test.each(Object.entries(texts))("%s is among the encodings that its text may be in", (encoding, text) => {
  const file = Buffer.from(createCodec(encoding).encode(text.repeat(20)));
  const likely = likelyEncodings(file);
  expect(likely).toContain(encoding);
  expect(likely).toContain("windows-1252");
});

test("a Western text is windows-1252 before anything else, and UTF-8 but for a few bytes is UTF-8", () => {
  const western = Buffer.from("d\xe9j\xe0 vu, caf\xe9 cr\xe8me, na\xefve\n", "latin1");
  expect(likelyEncodings(western)[0]).toBe("windows-1252");
  const text = Buffer.from("déjà vu, 表\n".repeat(10));
  expect(likelyEncodings(Buffer.concat([text, Buffer.of(0xff), text]))).toEqual(["utf-8"]);
});
