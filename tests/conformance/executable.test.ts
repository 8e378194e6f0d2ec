import { runCatalogue } from "./suite.ts";

runCatalogue("executable");
