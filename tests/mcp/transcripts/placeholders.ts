/** A value that differs between two runs of the same session, with the name of its placeholder. */
interface Varying {
  /** Whether values are numbered in order of appearance. Otherwise, all share one placeholder. */
  readonly isNumbered: boolean;
  readonly name: string;
  readonly pattern: RegExp;
}

const varying: readonly Varying[] = [
  { name: "revision", isNumbered: true, pattern: /sha256:[0-9a-f]{64}/g },
  { name: "plan", isNumbered: true, pattern: /\b[0-9a-f]{32}\b/g },
  { name: "transaction", isNumbered: true, pattern: /(?<=\btransaction )[0-9a-f]{16}\b/g },
  { name: "session", isNumbered: true, pattern: /(?<=\(session )[0-9a-f]{8}(?=\))/g },
  { name: "position", isNumbered: true, pattern: /\b[0-9a-f]{12}:\d+\b/g },
  { name: "cursor", isNumbered: true, pattern: /(?<="cursor": ")[\w+/=-]{24,}(?=")/g },
  {
    name: "duration",
    isNumbered: false,
    pattern: /(?<=\[(?:exit code \d+|ended by \w+), |(?:after|for) )\d+(?:\.\d+)? m?s\b/g,
  },
  {
    name: "the network of commands",
    isNumbered: false,
    pattern: /^Commands (?:listen and connect on|have no network|may use the network).*$/gm,
  },
  {
    name: "what commands cannot change",
    isNumbered: false,
    pattern: /(?<=HOME is a private folder of theirs\. )(?:Files that|Nothing keeps them from).*$/gm,
  },
  // The size of a folder depends on the file system.
  { name: "size", isNumbered: false, pattern: /(?<="is_dir":true,"is_symlink":false,"size":)\d+/g },
  { name: "changes", isNumbered: false, pattern: /(?<=^\[changed while it ran: )[^\]]+(?=\]$)/gm },
  { name: "count", isNumbered: false, pattern: /\d+ files?(?= outside of snapshot)/g },
  { name: "time", isNumbered: false, pattern: /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?/g },
  { name: "milliseconds", isNumbered: false, pattern: /\b1\d{12}\b/g },
  { name: "seconds", isNumbered: false, pattern: /\b1\d{9}\b/g },
  { name: "version", isNumbered: false, pattern: /(?<=^coder )\d+\.\d+\.\d+\b/gm },
];

/** The placeholders of one session. They replace values in texts, and are replaced by them in arguments. */
export class Placeholders {
  readonly #valueOf = new Map<string, string>();
  readonly #placeholderOf = new Map<string, string>();

  constructor(base: string, root: string) {
    // The longer path comes first, because it contains the other one.
    this.#add("<base>", base);
    this.#add("<root>", root);
  }

  #add(placeholder: string, value: string): string {
    this.#valueOf.set(placeholder, value);
    this.#placeholderOf.set(value, placeholder);
    return placeholder;
  }

  /** Replaces each varying value in the text by its placeholder. */
  hide(text: string): string {
    const withoutPatterns = varying.reduce(
      (hidden, { name, isNumbered, pattern }) =>
        hidden.replace(pattern, (value) => (isNumbered ? this.#numbered(name, value) : `<${name}>`)),
      text,
    );
    // Replaces paths, and values that occur again outside of their patterns, such as in errors.
    return [...this.#placeholderOf].reduce(
      (hidden, [value, placeholder]) => hidden.replaceAll(value, placeholder),
      withoutPatterns,
    );
  }

  #numbered(name: string, value: string): string {
    const known = this.#placeholderOf.get(value);
    if (known !== undefined) return known;
    const count = [...this.#valueOf.keys()].filter((one) => one.startsWith(`<${name} `)).length;
    return this.#add(`<${name} ${count + 1}>`, value);
  }

  /** Replaces the placeholders in arguments by their values. Throws if no answer contained such a value. */
  reveal(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const text = JSON.stringify(args).replace(/<(?:base|root|[a-z]+ \d+)>/g, (placeholder) => {
      const value = this.#valueOf.get(placeholder);
      if (value === undefined) throw new Error(`No answer held ${placeholder}.`);
      return JSON.stringify(value).slice(1, -1);
    });
    return JSON.parse(text) as Record<string, unknown>;
  }
}
