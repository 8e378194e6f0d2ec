import { catalogue } from "./catalogue.ts";
import { runCases } from "./suite.ts";

runCases("executable", catalogue);
