/** For the tests of this room: files with given n-grams, and a program that saves them until it is killed. */
import { stampWords } from "../../filesystem/jail/stamps.ts";
import { openStateFolder } from "../../filesystem/state/state-folder.ts";
import { ContentIndex } from "./content-index.ts";
import { SavedIndex } from "./saved-index.ts";
import { type SignedFiles, signed } from "./sign-files.ts";

/** A file: its inode, the size of its signature (0 for none), and the hashes in it. */
export type FakeFile = readonly [inode: number, bits: number, hashes: readonly number[]];

export function signedOf(files: readonly FakeFile[]): SignedFiles {
  const words = files.map(([, bits, hashes]) => {
    const own = new Uint32Array(bits === 0 ? 0 : 2 ** bits / 32);
    if (bits > 0) for (const hash of hashes) own[hash >>> 5]! |= 1 << (hash & 31);
    return [...own];
  });
  return {
    outcomes: Uint8Array.from(files, () => signed.yes),
    flags: new Uint8Array(files.length),
    stamps: Uint32Array.from(
      files.flatMap(([inode]) => Array.from({ length: stampWords }, (_, at) => (at === 0 ? inode : 1))),
    ),
    bits: Uint8Array.from(files, ([, bits]) => bits),
    words: Uint32Array.from(words.flat()),
  };
}

/** The memory of the indexes. */
export const maxBytes = 2 ** 24;

/** The number of files that `saveUntilKilled` adds before it saves its index again. */
export const filesPerSave = 300;

/** Saves larger and larger indexes, and writes a line after each. */
async function saveUntilKilled([dir, hostPath]: readonly string[]): Promise<void> {
  const state = openStateFolder({ dir: dir!, roots: [{ name: ".", hostPath: hostPath! }] });
  const saved = new SavedIndex({ state, identity: "tree" });
  const index = new ContentIndex(maxBytes);
  for (;;) {
    const first = index.state.files;
    await index.take(
      signedOf(Array.from({ length: filesPerSave }, (_, at) => [first + at + 1, 12, [at % 40]] as const)),
    );
    await saved.save(index);
    process.stdout.write("saved\n");
  }
}

if (import.meta.main) await saveUntilKilled(process.argv.slice(2));
