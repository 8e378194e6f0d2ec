/** Files that models send patches of. */
import type { Texts } from "./patch.test-kit.ts";

/** A tree, a patch, and the tree after it. */
export type PatchCase = readonly [what: string, before: Texts, patch: string, after: Texts];

export const python = `class Store:
    def __init__(self, path):
        self.path = path

    def load(self):
        with open(self.path) as file:
            return file.read()

    def save(self, text):
        with open(self.path) as file:
            file.write(text)
`;

export const numberWords = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
export const crlfWords = numberWords.replaceAll("\n", "\r\n");

export const twoThree = numberWords.replace("two\n", "2\n");
