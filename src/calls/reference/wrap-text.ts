/** Breaks a text into lines of at most `columns`, each with `prefix`. A longer word has a line of its own. */
export function wrapText(text: string, columns: number, prefix = ""): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (prefix.length + longer.length <= columns || line === "") line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line].map((one) => prefix + one).join("\n");
}
