import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "What is served, under which rules",
  about: "Find out what the server allows before the first change.",
  tree: shop,
  args: ["--tools", "all"],
  showsInstructions: true,
  steps: [
    callTool("coder_info"),
    callTool("coder_config_status"),
    callTool("coder_checkpoints"),
    callTool("coder_undo"),
  ],
} satisfies AgentJob;
