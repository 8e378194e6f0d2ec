import { describe, expect, test } from "bun:test";
import type { TArray, TObject, TSchema, TUnion } from "@sinclair/typebox";
import { refuseAdmission, refuseTrigger } from "../calls/admission-errors.ts";
import { refuseApproval } from "../calls/approval/approval-errors.ts";
import { refuseQuota } from "../calls/quotas/quota-errors.ts";
import { refuseField } from "../calls/requests/field-errors.ts";
import { synonyms } from "../calls/requests/synonyms.ts";
import { refuseCoder } from "../coder/coder-errors.ts";
import { defaultConfig } from "../coder/config.ts";
import { coderCodes, coderMeanings, renderRefusal } from "../coder/error-codes.ts";
import { refuseFileEncoding } from "../coder/fields/file-encoding-errors.ts";
import { functions } from "../coder/functions.ts";
import { refuseRead } from "../coder/read-file/read-errors.ts";
import { refuseReplacing } from "../coder/replace/replace-errors.ts";
import { refuseTransacting } from "../coder/transact/transact-errors.ts";
import { refuseJailed } from "../filesystem/jail/jail-errors.ts";
import { refuseJournal } from "../filesystem/journal/journal-errors.ts";
import { refuseMove } from "../filesystem/operations/move-errors.ts";
import { refusePlan } from "../filesystem/overlay/plan-errors.ts";
import { refuseTransaction } from "../filesystem/transactions/transaction-errors.ts";
import { Differences } from "../text/edits/differences.ts";
import { refuseEdit } from "../text/edits/edit-errors.ts";
import { refuseLines } from "../text/edits/line-errors.ts";
import { refuseEncoding } from "../text/encodings/encoding-errors.ts";
import { refusePatch } from "../text/patch/patch-errors.ts";
import { Refusal, refuse } from "./errors.ts";
import { UnreadableJson } from "./scheduling/parse-json.ts";

/** One refusal of each constructor of a table. */
type Samples<Table> = Readonly<Record<keyof Table, Refusal>>;

/** One refusal of every constructor that all functions share, as a caller would meet it. */
const shared: Samples<typeof refuse> = {
  absent: refuse.absent("a.txt", "missing"),
  manyNewFolders: refuse.manyNewFolders("a/".repeat(200), 128),
  badPayload: refuse.badPayload("path", "is missing; expected a string"),
  httpRequest: refuse.httpRequest(),
  emptyBatch: refuse.emptyBatch("files"),
  emptyOps: refuse.emptyOps("a.txt"),
  emptyPattern: refuse.emptyPattern(),
  badGlob: refuse.badGlob("include_globs", "the class is not closed"),
  takesBackNothing: refuse.takesBackNothing("exclude_globs", "!*.ts"),
  badPattern: refuse.badPattern("(", "unclosed group"),
  badTemplate: refuse.badTemplate("$nme", "it names $nme, and the groups of the pattern are ${0}"),
  foreignTemplate: refuse.foreignTemplate("<\\1>", "\\1, which is not a group here: send ${1}"),
  patternTooLarge: refuse.patternTooLarge("a{1000}", 1024),
  inChange: refuse.inChange(refuse.absent("a.txt", "missing"), 2),
  notUtf8: refuse.notUtf8("a.txt"),
  emptyPath: refuse.emptyPath(),
  malformedPath: refuse.malformedPath("a\0b", "holds a NUL character"),
  absolutePath: refuse.absolutePath("/a"),
  relativePath: refuse.relativePath("a"),
  outside: refuse.outside("../a"),
  badLink: refuse.badLink("link"),
  notAFile: refuse.notAFile("a"),
  notAFolder: refuse.notAFolder("a"),
  isAFolder: refuse.isAFolder("a"),
  exists: refuse.exists("a"),
  existsUnexpectedly: refuse.existsUnexpectedly("a"),
  nameIsTaken: refuse.nameIsTaken("a"),
  folderExists: refuse.folderExists("a"),
  notEmpty: refuse.notEmpty("a"),
  refilledInside: refuse.refilledInside("a/b"),
  replacedAgain: refuse.replacedAgain("a.txt"),
  refilled: refuse.refilled("a"),
  baseIsKept: refuse.baseIsKept(),
  rootIsKept: refuse.rootIsKept("/srv"),
  tooDeep: refuse.tooDeep("a", 256),
  holdsMount: refuse.holdsMount("build"),
  mountPoint: refuse.mountPoint("hosts"),
  mixedLineEnds: refuse.mixedLineEnds("a"),
  replacedTooLarge: refuse.replacedTooLarge("a", 10),
  tooLarge: refuse.tooLarge("a", { key: "max_read_bytes", bytes: 5 }, "search it with coder::search"),
  answerTooLarge: refuse.answerTooLarge(20, 10, "reads"),
  changed: refuse.changed("a"),
  badRevision: refuse.badRevision("abc", true),
  revisionMismatch: refuse.revisionMismatch("a", { path: "a", expected: "absent" }),
  wholeRevisionMismatch: refuse.wholeRevisionMismatch("f", {}),
  permission: refuse.permission("a"),
  readOnlyFile: refuse.readOnlyFile("a", 0o100_444),
  io: refuse.io("a", "no space is left on the device"),
  shortage: refuse.shortage("this program has too many files open (EMFILE)"),
  baseGone: refuse.baseGone(),
  timeout: refuse.timeout(100),
  lateWrite: refuse.lateWrite(100),
  stoppedHalfway: refuse.stoppedHalfway(100),
  cancelled: refuse.cancelled(),
  stopping: refuse.stopping(),
  stoppingHalfway: refuse.stoppingHalfway(),
  partlyRemoved: refuse.partlyRemoved(refuse.permission("d/e/a"), "d", { removed: 2, seq: 7, losses: 0 }),
  unexpected: refuse.unexpected(),
};

const ofCoder: Samples<typeof refuseCoder> = {
  explainedAbsence: refuseCoder.explainedAbsence(
    refuse.absent("a", "missing"),
    refuse.absent("a", "missing").message,
    ["It was moved to b by #5."],
  ),
  holdsDenied: refuseCoder.holdsDenied(refuse.absent("a", "missing"), refuse.absent("a", "missing").message),
  linkToOtherRoot: refuseCoder.linkToOtherRoot(refuse.badLink("a"), refuse.badLink("a").message, "lib/a"),
  pathFromBase: refuseCoder.pathFromBase(refuse.absent("src/a", "missing"), "src"),
  uselessLink: refuseCoder.uselessLink(refuse.badLink("a"), refuse.badLink("a").message),
  otherJournal: refuseCoder.otherJournal(),
  noFolder: refuseCoder.noFolder("a/b.txt", "a"),
  emptyQuery: refuseCoder.emptyQuery(),
  emptyContentQuery: refuseCoder.emptyContentQuery(),
  nothingToSearch: refuseCoder.nothingToSearch(),
  strayRevision: refuseCoder.strayRevision("./a"),
  noPatch: refuseCoder.noPatch(),
  patchAndPath: refuseCoder.patchAndPath(),
  strayPatchRevision: refuseCoder.strayPatchRevision("./a"),
  tooManyPatchedFiles: refuseCoder.tooManyPatchedFiles(1001, 1000),
  unknownFileType: refuseCoder.unknownFileType("typescript\n"),
  invertedLines: refuseCoder.invertedLines(),
  emptyPattern: refuseCoder.emptyPattern(),
  fuzzyRegex: refuseCoder.fuzzyRegex(),
  longFuzzyQuery: refuseCoder.longFuzzyQuery(300, 256),
  badCursor: refuseCoder.badCursor("x"),
  twoStarts: refuseCoder.twoStarts(),
  badSince: refuseCoder.badSince("x"),
  badBase64: refuseCoder.badBase64('holds "é" at character 1'),
  badMode: refuseCoder.badMode("rw-\n"),
  noFsScope: refuseCoder.noFsScope("coder::commit"),
  noJournal: refuseCoder.noJournal({
    reason: "the state folder cannot be made (EACCES)",
    isByConfiguration: false,
  }),
  undoNothing: refuseCoder.undoNothing("checkpoint 7"),
  undoWithoutSession: refuseCoder.undoWithoutSession({ seq: 7, author: { client: "raw 1" }, label: "a" }),
  byWithoutSession: refuseCoder.byWithoutSession("me"),
  undoOfOthers: refuseCoder.undoOfOthers(
    { seq: 7, author: { client: "other 1.0", session: "5f0c1a2b" }, label: "rename" },
    { wanted: "other", authors: [{ client: "other 1.0", session: "5f0c1a2b" }, { user: "anna" }] },
  ),
  undoWhich: refuseCoder.undoWhich(),
  undoZero: refuseCoder.undoZero("seq"),
  undoByLabel: refuseCoder.undoByLabel("T8", 91),
};

const ofLines: Samples<typeof refuseLines> = {
  overlap: refuseLines.overlap([0, 2], 7),
  insertOutOfRange: refuseLines.insertOutOfRange(0, 9, 1),
  outOfRange: refuseLines.outOfRange(0, [3, 2], 0),
};

const ofJail: Samples<typeof refuseJailed> = {
  denied: refuseJailed.denied(".env", "**/.env"),
  protected: refuseJailed.protected(".git/config"),
  inOtherRoot: refuseJailed.inOtherRoot("app/packages/core/a.ts", "core/a.ts"),
  readOnlyRoot: refuseJailed.readOnlyRoot("docs/a.md", "docs", ["src"]),
  rootItself: refuseJailed.rootItself("src", ["src", "tests"]),
  top: refuseJailed.top("new", ["src", "tests"]),
  outOfScope: refuseJailed.outOfScope("../b.txt"),
  readOnlyGrant: refuseJailed.readOnlyGrant("a.txt"),
  boundary: refuseJailed.boundary("."),
  manyGrants: refuseJailed.manyGrants(101, 100),
  rootGone: refuseJailed.rootGone("docs"),
  rootMissing: refuseJailed.rootMissing("docs"),
};

const ofAdmission: Samples<typeof refuseAdmission> = {
  manyWaiting: refuseAdmission.manyWaiting(4096),
  manyRequestBytes: refuseAdmission.manyRequestBytes(1024),
};

const ofTriggers: Samples<typeof refuseTrigger> = {
  stopping: refuseTrigger.stopping(),
  tooMany: refuseTrigger.tooMany(256),
};

const ofApproval: Samples<typeof refuseApproval> = {
  declined: refuseApproval.declined(),
  dismissed: refuseApproval.dismissed(),
  unanswered: refuseApproval.unanswered(300_000),
  gone: refuseApproval.gone(),
  stopping: refuseApproval.stopping(),
  planned: refuseApproval.planned("0f1e2d3c4b5a69788796a5b4c3d2e1f0"),
  unplanned: refuseApproval.unplanned(),
  impossible: refuseApproval.impossible(),
  stale: refuseApproval.stale(),
  tooMany: refuseApproval.tooMany(64),
};

const ofQuotas: Samples<typeof refuseQuota> = {
  exceeded: refuseQuota.exceeded({ quota: "calls_per_second", limit: 5, retryAfterMilliseconds: 200 }),
};

const ofMoves: Samples<typeof refuseMove> = {
  base: refuseMove.base("moved"),
  folderOntoFile: refuseMove.folderOntoFile("a", "b\nc"),
  ontoItsEnd: refuseMove.ontoItsEnd("a", "b", "moved"),
  intoItself: refuseMove.intoItself("a", "copied"),
  cannotCross: refuseMove.cannotCross("a", "folder"),
  changed: refuseMove.changed({ from: "a", to: "b" }),
  specialFile: refuseMove.specialFile("p"),
  holdsSpecialFile: refuseMove.holdsSpecialFile("a"),
  specialFileStays: refuseMove.specialFileStays("a"),
  changedMeanwhile: refuseMove.changedMeanwhile("one/a", "other/a"),
  changedDuringCopy: refuseMove.changedDuringCopy("a"),
  changedInTransaction: refuseMove.changedInTransaction("one/a"),
  holdsLargeFile: refuseMove.holdsLargeFile("a", { key: "max_write_bytes", bytes: 5 }),
};

const ofJournal: Samples<typeof refuseJournal> = {
  undoProtected: refuseJournal.undoProtected("a/b", 7),
  undoNotPermitted: refuseJournal.undoNotPermitted("a/b", 7),
  undoInGoneRoot: refuseJournal.undoInGoneRoot("a/b", "a", 7),
};
const ofTransactions: Samples<typeof refusePlan> = {
  tooMuch: refusePlan.tooMuch(100),
  manyEntries: refusePlan.manyEntries("a/b", 2000),
};

const ofReplacing: Samples<typeof refuseReplacing> = {
  emptyQuery: refuseReplacing.emptyQuery(),
  sameText: refuseReplacing.sameText(),
  tooManyFiles: refuseReplacing.tooManyFiles(10_000),
  inReadOnlyRoots: refuseReplacing.inReadOnlyRoots({ readOnly: ["docs", "lib"], files: 12, total: 20 }),
  wrongCount: refuseReplacing.wrongCount("expect_files", { expected: 2, found: 1, files: [{ path: "a" }] }),
};

const ofCallsTogether: Samples<typeof refuseTransacting> = {
  unavailable: refuseTransacting.unavailable(),
  inPlace: refuseTransacting.inPlace(refuse.changed("a"), 'Change 1 of 2 ("a")', String),
  tooManyChanges: refuseTransacting.tooManyChanges(1001, 1000),
  badPlan: refuseTransacting.badPlan("x"),
  largePlan: refuseTransacting.largePlan(100, 50),
  noPlan: refuseTransacting.noPlan("0f".repeat(16)),
  stalePlan: refuseTransacting.stalePlan("0f".repeat(16), { paths: ["a"] }),
};

const excess = { path: "a", size: 10, limit: { key: "max_read_bytes", bytes: 5 } };
const ofReads: Samples<typeof refuseRead> = {
  noPath: refuseRead.noPath(),
  filesAndOthers: refuseRead.filesAndOthers(),
  pathAndPaths: refuseRead.pathAndPaths(),
  globsWithoutStat: refuseRead.globsWithoutStat(),
  globsAndOthers: refuseRead.globsAndOthers("paths"),
  sortWithoutGlobs: refuseRead.sortWithoutGlobs(),
  tooManyFiles: refuseRead.tooManyFiles(20_000),
  tailAndLines: refuseRead.tailAndLines(),
  noLines: refuseRead.noLines(3, 2),
  useless: refuseRead.useless("tail", "stat answers no content"),
  file: refuseRead.file(excess),
  window: refuseRead.window({ ...excess, lines: 3 }),
  line: refuseRead.line(excess),
  content: refuseRead.content(excess, { bytes: 10, lineTo: 2, isBase64: false, mayRaise: true }),
  largest: refuseRead.largest(excess),
  image: refuseRead.image(excess, 8),
  imageSide: refuseRead.imageSide(excess, { width: 9000, height: 1 }, 8000),
};

const line = { line: 3, text: "--- a/f" };
const place = { path: "f", number: 2, lines: [3, 5] } as const;
const candidates = [{ from_line: 1, to_line: 2, similarity: 0.9, text: "a\nb\n" }];
const miss = {
  candidates,
  differs: "none",
  pair: undefined,
  wrapping: undefined,
  isWrappedOnly: false,
  differences: new Differences(),
  isUndecoded: false,
} as const;
const ofPatches: Samples<typeof refusePatch> = {
  noPatch: refusePatch.noPatch(false),
  wrongFormat: refusePatch.wrongFormat("v4a"),
  cutOff: refusePatch.cutOff(),
  manyHunks: refusePatch.manyHunks(50_001, 50_000),
  badLine: refusePatch.badLine(line, 'each line of a hunk begins with " ", "-" or "+"'),
  longHeader: refusePatch.longHeader(line, 70_000, 65_536),
  noFileName: refusePatch.noFileName(line),
  twoNames: refusePatch.twoNames(line, ["f", "g\n"]),
  emptyFilePatch: refusePatch.emptyFilePatch("f"),
  unsupported: refusePatch.unsupported(line, "a submodule"),
  pathIsTaken: refusePatch.pathIsTaken("f"),
  notRemoved: refusePatch.notRemoved("f", 1),
  newFileHasLines: refusePatch.newFileHasLines(place),
  hunkNotFound: refusePatch.hunkNotFound(place, miss),
  headingNotFound: refusePatch.headingNotFound(place, { heading: "def f\u2028", ...miss }),
  misplacedHunk: refusePatch.misplacedHunk(place, { isAtEnd: true, candidates }),
  ambiguousHunk: refusePatch.ambiguousHunk(place, { matching: "exact", count: 2, candidates }),
  movedLink: refusePatch.movedLink("l", "d/f"),
  hunkWithoutContext: refusePatch.hunkWithoutContext(place),
  tooManyComparisons: refusePatch.tooManyComparisons(place, 1024),
  overlappingHunks: refusePatch.overlappingHunks(place, { ...place, number: 1 }),
  contradiction: refusePatch.contradiction(line, "a new file", "--- a/f\n", "--- /dev/null"),
  irreversible: refusePatch.irreversible(line, "a copy"),
  tooFewParts: refusePatch.tooFewParts(line, 3),
  unevenIndentation: refusePatch.unevenIndentation(place, candidates),
  alreadyApplied: refusePatch.alreadyApplied(place, candidates),
  notEmptyBefore: refusePatch.notEmptyBefore(place, 2),
};

const ofRequests: Samples<typeof refuseField> = {
  unknownField: refuseField.unknownField({
    name: "dry_run",
    where: "files[0]",
    kind: undefined,
    advice: "Send `dry_run` at the top level, not in `files[0]`.",
    known: ["ops", "path"],
    below: { list: "ops", known: ["op"] },
  }),
  besideList: refuseField.besideList("path", "path", "files"),
  namedTwice: refuseField.namedTwice(["file_path", "path"], "path", ""),
  mistakenPath: refuseField.mistakenPath("a:12", {
    why: "ends with the number of a line",
    instead: "a",
    line: 12,
    mayBeLiteral: true,
  }),
  insteadOf: refuseField.insteadOf(refuse.absent("a:12", "missing"), refuse.isAFolder("a")),
  unreadable: refuseField.unreadable(
    "files[0]",
    new UnreadableJson("nests more than 127 levels", "send fewer"),
  ),
  tooLarge: refuseField.tooLarge("files", 1001, { unit: "entries", max: 1000 }),
  manyGrants: refuseField.manyGrants(101, 100),
  emptyPath: refuseField.emptyPath(refuse.emptyPath(), refuse.emptyPath().message),
  outsideBoundary: refuseField.outsideBoundary("grant", ".", "src"),
  tooManyObjects: refuseField.tooManyObjects(2500),
  notMap: refuseField.notMap("env", undefined),
  numberedText: refuseField.numberedText("files[0].content"),
  withAdvice: refuseField.withAdvice(
    refuse.badPayload("tail", "is 5 lines; expected a whole number"),
    'Send "tail": 5.',
  ),
};

const ofEdits: Samples<typeof refuseEdit> = {
  emptyOldStr: refuseEdit.emptyOldStr({ path: "a", index: 0 }),
  sameText: refuseEdit.sameText({ path: "a", index: 0 }),
  emptyPattern: refuseEdit.emptyPattern({ path: "a", index: 0 }),
  inOp: refuseEdit.inOp({ path: "a", index: 0 }, refuse.badPattern("(", "unclosed group")),
  textNotFound: refuseEdit.textNotFound({ path: "a", index: 0 }, miss),
  alreadyApplied: refuseEdit.alreadyApplied({ path: "a", index: 0 }, candidates),
  ambiguousText: refuseEdit.ambiguousText({ path: "a", index: 0 }, { count: 2, candidates }),
  patternNotFound: refuseEdit.patternNotFound({ path: "f", index: 0 }, undefined),
  matchCount: refuseEdit.matchCount({ path: "a", index: 0 }, { expected: 1, found: 2, candidates }),
};

const ofEncodings: Samples<typeof refuseEncoding> = {
  unknownLabel: refuseEncoding.unknownLabel("x"),
  missingCharacter: refuseEncoding.missingCharacter("a.txt", "Shift_JIS", "é"),
  damagedLine: refuseEncoding.damagedLine("a.txt", "UTF-16LE"),
  unmarked: refuseEncoding.unmarked("a.txt", "utf-16le"),
};

const ofFileEncodings: Samples<typeof refuseFileEncoding> = {
  unknownEncoding: refuseFileEncoding.unknownEncoding("a.txt", "é", ["windows-1252"]),
  tooLarge: refuseFileEncoding.tooLarge("a.txt", "UTF-16LE"),
  undecodable: refuseFileEncoding.undecodable("a.txt", ["windows-1252"]),
  invalidUtf8: refuseFileEncoding.invalidUtf8("a.txt"),
  lostBytes: refuseFileEncoding.lostBytes("a.txt"),
  splitCharacter: refuseFileEncoding.splitCharacter("a.txt", ["shift_jis", "gb18030"]),
};

const ofCommits: Samples<typeof refuseTransaction> = {
  noRecord: refuseTransaction.noRecord("ENOSPC"),
  stopping: refuseTransaction.stopping(),
  notTakenBack: refuseTransaction.notTakenBack("a.txt", "0123456789abcdef"),
  manyLeft: refuseTransaction.manyLeft(64),
};

const all = [
  shared,
  ofCoder,
  ofReads,
  ofRequests,
  ofEdits,
  ofEncodings,
  ofFileEncodings,
  ofLines,
  ofJail,
  ofMoves,
  ofAdmission,
  ofTriggers,
  ofApproval,
  ofQuotas,
  ofPatches,
  ofJournal,
  ofTransactions,
  ofCommits,
  ofReplacing,
  ofCallsTogether,
].flatMap((table) => Object.entries<Refusal>(table));

/** Returns the fields of a request, at any depth. */
function fieldsIn(schema: TSchema): string[] {
  const { properties = {}, items, anyOf = [] } = schema as Partial<TObject & TArray & TUnion>;
  const below = [...Object.values(properties), ...(items === undefined ? [] : [items]), ...anyOf];
  return [...Object.keys(properties), ...(below as TSchema[]).flatMap(fieldsIn)];
}

const knownNames: ReadonlySet<string> = new Set([
  ...functions.flatMap(({ request }) => fieldsIn(request as unknown as TSchema)),
  ...Object.values(synonyms).flat(),
  ...Object.keys(defaultConfig()),
  // The fields of an entry of a map, which the schemas of tools show as a list.
  "key",
  "value",
]);

describe.each(all)("%s", (_, refusal) => {
  test("says in one line what was given, why not, and what would work", () => {
    expect(refusal.message).toMatch(/^[^\n]{40,}\.$/);
    expect(refusal.message).toMatch(/[;,.] /);
  });

  test("is for a model, which has a user, and says a consequence in a sentence of its own", () => {
    expect(refusal.message).not.toMatch(/operator/i);
    expect(refusal.message).not.toMatch(/[,;] (and |so )?(nothing|this one) was /);
  });

  test("names only fields that requests have, names that are taken for them, and keys of the configuration", () => {
    const named = [...refusal.message.matchAll(/`([a-z_]{2,})`|"([a-z_]{2,})":/g)];
    const unknown = named.map(([, one, other]) => one ?? other!).filter((name) => !knownNames.has(name));
    expect(unknown).toEqual([]);
  });

  test("says nothing of workers, which a model does not know", () => {
    expect(refusal.message).not.toMatch(/the worker|this worker/i);
  });

  test("has a code that the error page explains", () => {
    expect(coderMeanings[coderCodes[refusal.reason]]).toBeString();
  });
});

test("every explained code is one that a call can get", () => {
  expect(Object.keys(coderMeanings).sort()).toEqual([...new Set(Object.values(coderCodes))].sort());
});

test("missing and denied cannot be told apart", () => {
  const [missing, denied] = [refuse.absent("a", "missing"), refuse.absent("a", "denied")].map(renderRefusal);
  expect(missing).toBe(denied as string);
});

test("on the wire it is compact JSON, code before message", () => {
  expect(renderRefusal(new Refusal("exists", "m"))).toBe(
    '{"code":"C217","message":"m","reason":"already_exists"}',
  );
});

test("a path with line ends is named on one line", () => {
  expect(refuse.absent("a\n\u2028b\u0085", "missing").message).toStartWith(
    '"a\\n\\u2028b\\u0085" is not found',
  );
});

test("a path of any length is named in short", () => {
  expect(refuse.absent("x".repeat(5000), "missing").message.length).toBeLessThan(600);
});

test("what could not be taken back is named without temporary names", () => {
  const { message, path } = refuseTransaction.notTakenBack(
    "s/.coder-tmp-00000000-1-1-0123456789abcdef/a",
    "0123456789abcdef",
  );
  expect(message).toContain('rolled back at "s", which');
  expect(path).toBe("s");
});
