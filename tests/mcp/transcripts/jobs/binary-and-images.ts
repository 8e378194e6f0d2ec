import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

/** A PNG with one pixel. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

export default {
  title: "Images and other binary files",
  about: "See a logo, and find out what an archive and a recording are, without their bytes as text.",
  tree: {
    ...shop,
    "logo.png": pixel,
    "data.zip": Buffer.from("504b0304140000000000000021000000000000000000000000000500000061", "hex"),
    "beep.wav": Buffer.concat([Buffer.from("RIFF\x24\0\0\0WAVEfmt "), Buffer.alloc(28)]),
  },
  steps: [
    callTool("coder_read_file", { path: "logo.png" }),
    callTool("coder_read_file", { path: "logo.png", stat: true }),
    callTool("coder_read_file", { path: "data.zip" }),
    callTool("coder_read_file", { path: "data.zip", encoding: "base64" }),
    callTool("coder_read_file", { path: "beep.wav" }),
    callTool("coder_read_file", { paths: ["logo.png", "package.json", "data.zip"] }),
    callTool("coder_create_file", {
      path: "empty.zip",
      content: `UEsFBg${"A".repeat(24)}==`,
      encoding: "base64",
    }),
    callTool("coder_transact", {
      changes: [
        { op: "create", path: "hash.bin", content: "/wA=", encoding: "base64" },
        { op: "create", path: "hash.txt", content: "ff00\n", encoding: "text" },
      ],
    }),
    callTool("coder_create_file", { path: "note.txt", content: "plain\n", encoding: "text" }),
    callTool("coder_create_file", { path: "broken.bin", content: "not base64!", encoding: "base64" }),
    callTool("coder_search", { query: "PK" }),
    callTool("coder_read_file", { path: "package.json", encoding: "text", numbered: false }),
  ],
} satisfies AgentJob;
