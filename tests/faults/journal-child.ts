/** Changes the tree at BASE until it is killed, with a journal in STATE. Prints a line after each call. */
import { randomFrom } from "../harness/random.ts";
import { openJournaled } from "./journaled.ts";

const { BASE: base = "", STATE: state = "", SEED: seed = "1" } = process.env;
const random = randomFrom(Number(seed));
const { call } = await openJournaled(base, state);
const path = () => random.pick(["a", "b", "d", "d/a", "d/b", "e/d", "e/d/a"]);

for (;;) {
  const payloads: readonly (readonly [string, object])[] = [
    [
      "coder::create-file",
      { files: [{ path: path(), content: "x".repeat(random.below(9000)), overwrite: true }] },
    ],
    [
      "coder::update-file",
      { files: [{ path: path(), ops: [{ op: "insert", at_line: 1, content: "y\n" }] }] },
    ],
    ["coder::delete-file", { paths: [path(), path()], recursive: true }],
    ["coder::move", { files: [{ from: path(), to: path(), overwrite: true }] }],
    ["coder::copy", { files: [{ from: path(), to: path(), overwrite: true }] }],
    ["coder::make-folder", { paths: [path()] }],
    ["coder::undo", {}],
  ];
  await call(...random.pick(payloads)).catch(() => {});
  process.stdout.write("done\n");
}
