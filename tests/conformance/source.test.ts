import { runCatalogue } from "./suite.ts";

runCatalogue("source");
