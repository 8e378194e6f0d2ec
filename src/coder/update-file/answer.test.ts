import { expect, test } from "bun:test";
import { UpdateAnswer } from "./answer.ts";

const megabytes = 1024 * 1024;

test("each body of a file is cut in a step of its own", () => {
  const [before, after] = [Buffer.from("before"), Buffer.from("after")];
  const steps = new UpdateAnswer(megabytes, 8 * megabytes).fit({ before, after: [after] });
  let [count, step] = [1, steps.next()];
  for (; !step.done; step = steps.next()) count++;
  expect(count).toBe(2);
  expect(step.value).toMatchObject({ before: { text: "before" }, after: { text: "after" } });
});
