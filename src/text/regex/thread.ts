/** The program of a regex thread, which runs replacements. */
import { serveJobs } from "../../base/threads/serve.ts";
import { type ReplaceJob, Replacer, replyTo } from "./replace.ts";

serveJobs((check) => {
  const replacer = new Replacer(check);
  return (job: ReplaceJob) => replyTo(job, replacer);
});
