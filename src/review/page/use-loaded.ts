import { useEffect, useState } from "preact/hooks";

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: Error | undefined;
}

/**
 * Loads the value of `key`, and again whenever `turn` differs. While it loads again, it returns the value
 * that it has of the same key.
 */
export function useLoaded<T>(load: () => Promise<T>, key: string, turn = 0): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T> & { readonly key: string }>();
  useEffect(() => {
    let isCurrent = true;
    load().then(
      (value) => isCurrent && setLoaded({ value, error: undefined, key }),
      (error: Error) => isCurrent && setLoaded({ value: undefined, error, key }),
    );
    return () => {
      isCurrent = false;
    };
  }, [key, turn]);
  return loaded?.key === key ? loaded : { value: undefined, error: undefined };
}
