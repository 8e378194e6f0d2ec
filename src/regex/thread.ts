/** The program of a regex thread: replaces in bodies, however long that takes. */
import { serveJobs } from "../threads/serve.ts";
import { type ReplaceJob, replyTo } from "./replace.ts";

serveJobs(() => (job: ReplaceJob) => replyTo(job));
