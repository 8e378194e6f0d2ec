/** The program of a regex thread: replaces in bodies, however long that takes. */
import { serveJobs } from "../threads/serve.ts";
import { type ReplaceJob, Replacer, replyTo } from "./replace.ts";

serveJobs((_: null, check) => {
  const replacer = new Replacer(check);
  return (job: ReplaceJob) => replyTo(job, replacer);
});
