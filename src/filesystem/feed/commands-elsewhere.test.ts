/** A feed beside commands of other workers, whose announcements and changes it reads in one order. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import type { Jail } from "../jail/folder.ts";
import { JailFixture } from "../jail/jail.test-kit.ts";
import { openJail } from "../jail/jail.ts";
import { openStateFolder } from "../state/state-folder.ts";
import { SharedTree } from "../watch/shared-tree.ts";
import { AnnouncedCommands } from "./announced-commands.ts";
import { commandsIn } from "./change.ts";
import { Feed } from "./feed.ts";

class Fixture extends JailFixture {
  readonly feed: Feed;
  readonly elsewhere: AnnouncedCommands;
  readonly state: ReturnType<typeof openStateFolder>;
  readonly #jail: Jail;
  #next = 0;

  constructor() {
    super({ "base/f": "", "base/g": "" });
    const roots = [{ name: ".", hostPath: this.at("base") }];
    this.state = openStateFolder({ dir: this.at("state"), roots });
    const jail = openJail({ basePath: this.at("base"), deny: compileGlobSet([]), backend: "openat" });
    this.#jail = jail;
    const tree = new SharedTree({ openBase: () => jail.reopenFolder("") });
    const announced = new AnnouncedCommands(this.state);
    this.feed = new Feed({ jail, trees: [{ name: "", tree }], listen: () => {}, announced });
    this.elsewhere = new AnnouncedCommands(this.state);
  }

  write(path: string, text = "x"): void {
    writeFileSync(this.at(`base/${path}`), text);
  }

  /** Begins a command of another worker. */
  begin(program: string): () => void {
    return this.elsewhere.begin({ by: "call", function_id: "shell::exec", program });
  }

  /** Returns the changes since the last call, each with the programs that ran, or `another`. */
  async take(): Promise<string[]> {
    const newest = await this.feed.newest();
    const lines: string[] = [];
    while (this.#next < newest) {
      const { kind, path, cause } = this.feed.at(++this.#next);
      const ran =
        cause.by === "external"
          ? "another"
          : commandsIn(cause)
              .map(({ program }) => program)
              .join("+");
      lines.push(`${kind} ${path}: ${ran}`);
    }
    return lines;
  }

  override [Symbol.dispose](): void {
    this.feed.close();
    this.#jail.close();
    super[Symbol.dispose]();
  }
}

describe("without a poll in between", () => {
  test("each of commands one after the other has its own changes, and other programs theirs", async () => {
    using fixture = new Fixture();
    await fixture.take();
    fixture.write("before");
    const endFirst = fixture.begin("one");
    fixture.write("f");
    mkdirSync(fixture.at("base/d"));
    endFirst();
    fixture.write("between");
    const endSecond = fixture.begin("two");
    renameSync(fixture.at("base/g"), fixture.at("outside"));
    endSecond();
    fixture.write("after");
    expect((await fixture.take()).toSorted()).toEqual([
      "created after: another",
      "created before: another",
      "created between: another",
      "created d: one",
      "deleted g: two",
      "modified f: one",
    ]);
  });

  test("all commands that ran at the same time are named", async () => {
    using fixture = new Fixture();
    await fixture.take();
    const endFirst = fixture.begin("one");
    fixture.write("f");
    const endSecond = fixture.begin("two");
    fixture.write("g");
    endFirst();
    fixture.write("h");
    endSecond();
    expect(await fixture.take()).toEqual(["modified f: one", "modified g: one+two", "created h: two"]);
  });

  test("a name that two commands changed has both, and one that a person changed too has another program", async () => {
    using fixture = new Fixture();
    await fixture.take();
    for (const program of ["one", "two"]) {
      const end = fixture.begin(program);
      fixture.write("f", program);
      end();
      fixture.write("g", program);
    }
    const end = fixture.begin("three");
    fixture.write("g", "three");
    end();
    expect(await fixture.take()).toEqual(["modified f: one+two", "modified g: another"]);
  });

  test("more than ten are not named", async () => {
    using fixture = new Fixture();
    await fixture.take();
    const ends = Array.from({ length: 11 }, (_, index) => fixture.begin(`p${index}`));
    fixture.write("f");
    ends[0]!();
    fixture.write("g");
    const [f, g] = await fixture.take();
    expect([f, g?.split("+").length]).toEqual(["modified f: another", 10]);
    for (const end of ends.slice(1)) end();
  });
});

test("commands that began before the first reader are known", async () => {
  using fixture = new Fixture();
  const end = fixture.begin("one");
  await fixture.take();
  fixture.write("f");
  end();
  fixture.write("g");
  expect(await fixture.take()).toEqual(["modified f: one", "modified g: another"]);
});

test("commands of a killed worker, and those after the folder of announcements was removed, are forgotten", async () => {
  using fixture = new Fixture();
  await fixture.take();
  const folder = fixture.state.find("commands")!;
  writeFileSync(
    `${folder}/running-4194305-aa-0`,
    JSON.stringify({ function_id: "shell::exec", program: "old" }),
  );
  await fixture.take();
  fixture.write("f");
  expect(await fixture.take()).toEqual(["modified f: another"]);
  const end = fixture.begin("one");
  fixture.write("f", "y");
  expect(await fixture.take()).toEqual(["modified f: one"]);
  rmSync(folder, { recursive: true });
  fixture.write("f", "z");
  end();
  expect(await fixture.take()).toEqual(["modified f: another"]);
  await fixture.take();
  expect(readdirSync(folder)).toEqual([]);
  const endNext = fixture.begin("two");
  fixture.write("f", "w");
  endNext();
  expect(await fixture.take()).toEqual(["modified f: two"]);
});

test("a command of this process and one of another are both named", async () => {
  using fixture = new Fixture();
  await fixture.take();
  const end = fixture.begin("one");
  const command = await fixture.feed.beginCommand({ by: "call", function_id: "shell::exec", program: "two" });
  fixture.write("f");
  end();
  fixture.write("g");
  const { files } = await fixture.feed.endCommand(command!);
  expect(files).toEqual(["f", "g"]);
  expect(await fixture.take()).toEqual(["modified f: one+two", "modified g: two"]);
});
