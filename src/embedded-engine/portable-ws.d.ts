/**
 * The package ws under another name. Bun replaces a package named ws by classes of its own, which encode a
 * text in one step and send no fragments.
 */
declare module "portable-ws" {
  export * from "ws";
}
