/** Runs every function over several roots, and with a scope. */
import { describe } from "bun:test";
import { subjects } from "../harness/subject.ts";
import { casesOfParts } from "./parts-of-the-tree.ts";
import { runConformanceCases } from "./suite.ts";

describe.each(subjects)("the %s", (subject) => runConformanceCases(casesOfParts, subject));
