/**
 * The part of WebAssembly's JavaScript interface that this project uses; the types of Node 20 do not declare
 * it.
 */
declare const compiled: unique symbol;

/** Compiled WebAssembly, which can be sent to threads. */
export interface WasmModule {
  readonly [compiled]: true;
}

interface Interface {
  readonly Module: {
    new (bytes: Uint8Array): WasmModule;
    imports(module: WasmModule): { readonly name: string }[];
  };
  validate(bytes: Uint8Array): boolean;
  readonly Instance: new (module: WasmModule, imports: object) => { readonly exports: unknown };
}

const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: Interface };

/** Compiles `bytes` to a module. */
export function compileModule(bytes: Uint8Array): WasmModule {
  return new WebAssembly.Module(bytes);
}

/** Returns whether this machine compiles `bytes`. */
export function validates(bytes: Uint8Array): boolean {
  return WebAssembly.validate(bytes);
}

/** Returns the names that `module` imports. */
export function importNames(module: WasmModule): string[] {
  return WebAssembly.Module.imports(module).map(({ name }) => name);
}

/** Returns the exports of a new instance of `module`. */
export function instantiate(module: WasmModule, imports: object): unknown {
  return new WebAssembly.Instance(module, imports).exports;
}
