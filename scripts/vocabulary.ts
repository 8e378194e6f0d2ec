/** Words that no exported name and no file of src is made of, each with what to say instead. */
export const bannedWords: Readonly<Record<string, string>> = {
  anchor: "a substring search is a memmem searcher",
  bench: "benchmarks live in bench/; what verbs share is a context",
  breath: "say yield, or time slice",
  breathe: "say yield, or time slice",
  desk: "what hosts tools is a tool host",
  errand: "name the operation",
  faces: "name what is shown",
  forms: "say byte classes",
  glance: "say probe, stat or resolve",
  hungry: "name the limit that is passed",
  leap: "say resolve beneath, as openat2(2) does",
  lend: "say with",
  look: "say stat, open or read",
  manieth: "say every n-th",
  means: "name the state",
  needles: "say literals, as a regex prefilter does",
  road: "name the call or the transport",
  seeker: "say searcher",
  seen: "name what was resolved",
  sight: "say handle",
  spot: "name the place: a path, an offset",
  surroundings: "say options or dependencies",
  tell: "say report, decode or return",
  told: "say reported or decoded",
  travel: "say run",
  turns: "say semaphore, or time slice",
  witness: "say probe",
  workbench: "say context, or fixture in tests",
  workshop: "say services",
};

/** Names that several files export on purpose, and the one meaning that they share. */
export const sharedNames: Readonly<Record<string, string>> = {};

/** Names that hold such a word because the field uses it for exactly this, and where. */
export const fieldNames: Readonly<Record<string, string>> = {
  Look: "regex-syntax: an assertion of its HIR",
};
