import type { ComponentChild } from "preact";
import type { SyntaxToken } from "../highlight.ts";
import { visible } from "../words.ts";
import type { Mark } from "./marks.ts";

interface CodeProps {
  readonly tokens: readonly SyntaxToken[];
  readonly marks?: readonly Mark[];
}

/** Maximum characters of a line that are shown: more than one screen ever holds. */
const maxShown = 5000;

/** Renders a line of text with the colors of its syntax and the marks of its changed words. */
export function CodeText({ tokens, marks = [] }: CodeProps) {
  const parts: ComponentChild[] = [];
  let at = 0;
  for (const { text, name } of tokens) {
    for (const { from, to, isMarked } of splitAt(marks, at, at + text.length)) {
      const part = visible(text.slice(from - at, to - at));
      const classes = [name, isMarked && "mark"].filter(Boolean).join(" ");
      parts.push(classes === "" ? part : <span class={classes}>{part}</span>);
    }
    at += text.length;
    if (at > maxShown) {
      parts.push(<span class="quiet"> … this line is longer</span>);
      break;
    }
  }
  return <code>{parts.length === 0 ? " " : parts}</code>;
}

interface Part {
  readonly from: number;
  readonly to: number;
  readonly isMarked: boolean;
}

/** Splits a range where marks begin and end. */
function splitAt(marks: readonly Mark[], from: number, to: number): Part[] {
  const end = Math.min(to, maxShown);
  const parts: Part[] = [];
  let at = from;
  for (const [begin, stop] of marks) {
    if (stop <= at || begin >= end) continue;
    if (begin > at) parts.push({ from: at, to: begin, isMarked: false });
    parts.push({ from: Math.max(begin, at), to: Math.min(stop, end), isMarked: true });
    at = Math.min(stop, end);
  }
  if (at < end) parts.push({ from: at, to: end, isMarked: false });
  return parts;
}
