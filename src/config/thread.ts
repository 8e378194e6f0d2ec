/** The program of a thread that parses long configurations. */
import { serveJobs } from "../base/threads/serve.ts";
import { parseYamlText } from "./yaml.ts";

serveJobs(() => parseYamlText);
