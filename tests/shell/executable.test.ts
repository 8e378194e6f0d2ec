import { shellCatalogue } from "./catalogue.ts";
import { runCases } from "./suite.ts";

runCases("executable", shellCatalogue);
