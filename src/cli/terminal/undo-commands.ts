/** Names the command for each undo that a text of the worker advises. */
export const nameUndoCommands = (text: string): string =>
  text.replaceAll(/\bcoder::undo (?:\{"seq":(\d+)\}|(\{[^}]*\}))/g, (_, seq?: string, json?: string) =>
    seq === undefined ? `\`coder undo '${json}'\`` : `\`coder undo ${seq}\``,
  );
