import { shellCatalogue } from "./catalogue.ts";
import { runCases } from "./suite.ts";

runCases("source", shellCatalogue);
