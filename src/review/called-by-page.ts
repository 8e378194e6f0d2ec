/** The functions that the page calls. It can read what agents can, and changes the tree only by undo. */
export const calledByPage: readonly string[] = [
  "coder::info",
  "coder::checkpoints",
  "coder::changes",
  "coder::undo",
  "coder::list-folder",
  "coder::read-file",
  "coder::search",
];
