/** A weakness of the original that is safe to close (shell §13, shell §15), and the tests for it. */
export interface Weakness {
  readonly number: number;
  /** The failure of the original in a few words. */
  readonly hole: string;
  /** The titles of tests by file. Each test fails without the code that closes the hole. */
  readonly shownBy: Readonly<Record<string, readonly string[]>>;
}

const programs = "tests/shell/processes.test.ts";
const files = "tests/shell/files.test.ts";
const start = "tests/shell/start.test.ts";
const forwarding = "tests/shell/forwarding.test.ts";
const jobs = "src/shell/programs/jobs.test.ts";
const policy = "src/shell/programs/policy.test.ts";
const others = "src/shell/fs/others.test.ts";

export const weaknesses: readonly Weakness[] = [
  {
    number: 1,
    hole: "any file with the name of a listed program is run, also one that a caller wrote",
    shownBy: {
      [programs]: [
        "a program in the folder that calls can write in is never run",
        "nor where everything may run",
      ],
      [policy]: [
        "is looked up in the program folders, whatever the child's PATH says",
        "does not pass by its last name, and nobody learns whether it exists",
      ],
    },
  },
  {
    number: 3,
    hole: "a missing or misspelt allowlist lets everything run",
    shownBy: {
      [start]: ["an unknown key", "an unknown key in a group", "an empty allowlist"],
      "src/shell/config.test.ts": ["an absent list has the published entries, an empty one none"],
    },
  },
  {
    number: 5,
    hole: "a timeout kills the leader only",
    shownBy: {
      [programs]: ["a timeout ends the whole group, also what ignores TERM and holds the pipes"],
      "tests/shell/sessions.test.ts": ["ends with its timeout", "ends with its command"],
    },
  },
  {
    number: 6,
    hole: "an answer waits for whoever holds the outputs",
    shownBy: {
      [programs]: ["what a program leaves behind does not hold the answer, and ends"],
      "src/shell/programs/programs.test.ts": [
        "who holds the outputs and is out of reach holds up neither the answer nor descriptors",
      ],
    },
  },
  {
    number: 7,
    hole: "any number of commands runs at once, also when nobody waits for them any more",
    shownBy: {
      [programs]: ["commands beyond the limit wait in line, and all are answered"],
      "src/shell/programs/programs.test.ts": ["by a run that is not waited for any more"],
    },
  },
  {
    number: 9,
    hole: "the worker's PATH decides which program a name is",
    shownBy: {
      [programs]: ["the worker's own PATH does not decide what runs"],
      "src/shell/programs/environment.test.ts": ["what loads code is not passed on by name either"],
    },
  },
  {
    number: 11,
    hole: "a job that is refused has run for a moment",
    shownBy: {
      [programs]: ["a job that is refused has not run"],
      [jobs]: ["are taken before anything starts"],
    },
  },
  {
    number: 12,
    hole: "a job goes to a sandbox although sandboxes are disabled",
    shownBy: { "tests/shell/cases/sandbox.ts": ["exec_bg"] },
  },
  {
    number: 13,
    hole: "a kill reaches the leader only, and frees the slot while the rest runs",
    shownBy: {
      [programs]: ["a kill ends the whole group before it is answered"],
      [jobs]: [
        "frees the slot when nothing is left, not before",
        "reaches what an exited program has left behind",
      ],
    },
  },
  {
    number: 14,
    hole: "a job that has closed its outputs cannot be killed",
    shownBy: { [programs]: ["a job that closes its outputs can be killed"] },
  },
  {
    number: 15,
    hole: "the end of a killed job overwrites its status or its time, or its output is lost",
    shownBy: {
      [programs]: ["a killed job keeps its end and gets its output"],
      [jobs]: ["ends the whole group, keeps what it wrote, and happens once"],
    },
  },
  {
    number: 17,
    hole: "records of ended jobs pile up until somebody lists them, and have no bound",
    shownBy: {
      [programs]: [
        "ended jobs are kept up to a number",
        "ended jobs are kept up to a number of bytes, but the last one always",
        "a job whose time is over goes by itself",
      ],
    },
  },
  {
    number: 18,
    hole: "what runs outlives a worker that is asked to end",
    shownBy: {
      [programs]: ["%s ends commands and jobs, answers, and exits 0"],
      [start]: ["%s ends a call with what it runs"],
      "src/shell/programs/programs.test.ts": ["a worker that fails takes its programs along"],
    },
  },
  {
    number: 19,
    hole: "the answer of a sandbox is given up when the time of its command is up",
    shownBy: { [forwarding]: ["an answer that takes longer than the command may is waited for"] },
  },
  {
    number: 20,
    hole: "any failure that mentions a timeout becomes a success, and for jobs none does",
    shownBy: { [forwarding]: ["%s is no result", "a job and a command end alike when their time is up"] },
  },
  {
    number: 21,
    hole: "a command in a sandbox that a signal ended is an answer that nobody understands",
    shownBy: { [forwarding]: ["a program that a signal ended has no exit code"] },
  },
  {
    number: 30,
    hole: "a link that is swapped in between the check and the act leads out",
    shownBy: { "tests/security/shell/race.test.ts": ["%s, %s, %s"] },
  },
  {
    number: 31,
    hole: "rm, chmod and mv check one path and act on another",
    shownBy: {
      [files]: ["a path means the same to the check and to the act"],
      "tests/security/shell/matrix.test.ts": ["each function of files is called on each escape case"],
    },
  },
  {
    number: 32,
    hole: "the denylist holds for the path that is named, and not for what is visited",
    shownBy: {
      [files]: ["the denylist holds for whatever is visited", "a name that is denied cannot be made either"],
    },
  },
  {
    number: 33,
    hole: "links that lead out or dangle cannot be removed",
    shownBy: { [files]: ["links that dangle or lead out can be removed"] },
  },
  {
    number: 34,
    hole: "a folder that everybody shares is served without a word",
    shownBy: { [start]: ["a folder that everybody shares"] },
  },
  {
    number: 35,
    hole: "the root itself can be removed, moved and closed",
    shownBy: { [files]: ["the root itself stays as it is"] },
  },
  {
    number: 37,
    hole: "a file in the way of a folder is taken for the folder",
    shownBy: { [files]: ["a file in the way of a folder is an error"] },
  },
  {
    number: 38,
    hole: "modes with a sign, over 07777 or with set-id bits are taken",
    shownBy: { [files]: ["modes that are no modes, or that lend rights, are refused"] },
  },
  {
    number: 39,
    hole: "write commits what a dead sender left, loosens modes, waits for ever, and leaves folders behind",
    shownBy: {
      [files]: [
        "a file is not cut short by a sender that dies",
        "nor by one that announced its size on the channel, or reports a failure",
        "a replaced file keeps its mode unless another is given",
        "a folder in the way is noticed before anything is sent, and no folder is left behind",
      ],
      "tests/shell/flushed.test.ts": ["a file that is sent, and one that is edited"],
      "src/shell/fs/receive.test.ts": ["of a sender that takes too long is given up"],
      "src/shell/fs/transfers.test.ts": [
        "there are only so many transfers at once, and each that ends makes room",
      ],
    },
  },
  {
    number: 40,
    hole: "read is blocked by a FIFO, deceived by a file that grows, and held by a reader that never comes",
    shownBy: {
      [files]: [
        "a FIFO is neither read nor searched nor waited for",
        "a file that grows over the limit while it is sent is cut, and the reader is told",
      ],
      "src/shell/fs/send.test.ts": ["a reader that takes nothing is given up"],
    },
  },
  {
    number: 41,
    hole: "sed loses what others write, rewrites what it does not change, and turns links into files",
    shownBy: {
      [files]: [
        "no edit of one file is lost, however many there are at once",
        "sed leaves alone what it has no match in, and keeps links",
        "sed takes a dollar in a literal as it is",
        "sed has a limit, and says so",
      ],
      [others]: ["sed keeps what was written while it worked", "sed gives up a file that never holds still"],
      "src/filesystem/disk/write.test.ts": [
        "until it is published only a hidden file is there, and after a failure nothing",
      ],
    },
  },
  {
    number: 42,
    hole: "grep ends at a file that it may not read, is blocked by a FIFO, and answers more than the bus carries",
    shownBy: {
      [files]: [
        "a FIFO is neither read nor searched nor waited for",
        "grep goes on past what it may not read",
        "grep is answered in a message that the bus carries",
      ],
      "tests/faults/disk.test.ts": ["files and folders that are closed to the worker (EACCES)"],
    },
  },
  {
    number: 44,
    hole: "mv replaces what came to its destination after it looked, and forgets owner and time between file systems",
    shownBy: {
      [others]: ["mv does not replace what has come to its destination meanwhile"],
      [files]: ["a file is moved between file systems with its mode and time"],
    },
  },
  {
    number: 45,
    hole: "chmod of a tree locks itself out",
    shownBy: {
      [files]: [
        "chmod of a tree reaches everything, whatever its mode does to its folders",
        "chmod of a tree changes a folder after what is in it",
      ],
    },
  },
  {
    number: 46,
    hole: "one long walk holds up all calls",
    shownBy: { "tests/shell/busy.test.ts": ["%s"] },
  },
  {
    number: 47,
    hole: "a listing has no order",
    shownBy: { [files]: ["a folder is listed in the order of its names"] },
  },
  {
    number: 50,
    hole: "a mistake in the configuration is told as another one, or not at all",
    shownBy: {
      [start]: [
        "what is not YAML",
        "a pattern that does not compile",
        "a folder that is missing",
        "a relative denylist",
        "a default over the most",
        "no time",
        "no output",
      ],
    },
  },
  {
    number: 51,
    hole: "nobody can tell who ran what",
    shownBy: { [programs]: ["who ran what is in the log, without the arguments"] },
  },
];
