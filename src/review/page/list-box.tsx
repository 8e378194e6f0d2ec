import type { ComponentChild } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useVirtual } from "./virtual.ts";

interface ListBoxProps<T> {
  readonly label: string;
  readonly items: readonly T[];
  readonly height: number;
  readonly keyOf: (item: T) => string;
  /** The key of the chosen item. */
  readonly chosen: string | undefined;
  /** Whether more items may follow. */
  readonly isPartial?: boolean;
  readonly onChoose: (item: T) => void;
  /** Called when the end of the list is near. */
  readonly onEnd?: () => void;
  readonly render: (item: T) => ComponentChild;
}

/**
 * Renders a long list with one chosen item, which keys can move. The document contains only visible items.
 */
export function ListBox<T>(props: ListBoxProps<T>) {
  const { label, items, height, keyOf, chosen, onChoose, onEnd, render, isPartial = false } = props;
  const element = useRef<HTMLDivElement>(null);
  const heightOf = useRef(() => height).current;
  const virtual = useVirtual({ count: items.length, heightOf, element });
  const at = chosen === undefined ? -1 : items.findIndex((item) => keyOf(item) === chosen);
  const last = virtual.rows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= items.length - 20) onEnd?.();
  }, [last, items.length, onEnd]);
  const onKeyDown = useKeys(at, {
    last: items.length - 1,
    pageSize: () => Math.floor((element.current?.clientHeight ?? 0) / height) - 1,
    choose(index) {
      virtual.scrollTo(index);
      onChoose(items[index]!);
    },
  });
  const isShown = virtual.rows.some(({ index }) => index === at);
  return (
    <div
      class="list"
      ref={element}
      role="listbox"
      aria-label={label}
      tabIndex={0}
      onKeyDown={onKeyDown}
      {...(isShown && { "aria-activedescendant": idOf(label, at) })}
    >
      <div class="rows" role="presentation" style={{ height: `${virtual.height}px` }}>
        {virtual.rows.map(({ index, start }) => {
          const item = items[index];
          if (item === undefined) return null;
          return (
            <div
              class="row item"
              key={keyOf(item)}
              id={idOf(label, index)}
              role="option"
              tabIndex={-1}
              aria-selected={index === at}
              aria-setsize={isPartial ? -1 : items.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start}px)`, height: `${height}px` }}
              onClick={() => onChoose(item)}
            >
              {render(item)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface KeysOptions {
  readonly last: number;
  readonly pageSize: () => number;
  readonly choose: (index: number) => void;
}

/** Returns the handler of the keys that go through a list. */
function useKeys(at: number, { last, pageSize, choose }: KeysOptions) {
  // The chosen item comes back through the address; keys that follow at once start from this one.
  const current = useRef(at);
  // Not after the paint: a key that follows the paint would be overwritten by what was painted.
  useLayoutEffect(() => {
    current.current = at;
  }, [at]);
  return (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || last < 0) return;
    const page = Math.max(1, pageSize());
    const target = targetOf(event.key, { at: current.current, page, last });
    if (target === undefined) return;
    event.preventDefault();
    current.current = Math.max(0, Math.min(last, target));
    choose(current.current);
  };
}

/** Returns the index that a key leads to. */
function targetOf(
  key: string,
  { at, page, last }: { readonly at: number; readonly page: number; readonly last: number },
): number | undefined {
  switch (key) {
    case "ArrowDown":
      return at + 1;
    case "ArrowUp":
      return at - 1;
    case "PageDown":
      return at + page;
    case "PageUp":
      return at - page;
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return undefined;
  }
}

const idOf = (label: string, index: number): string => `${label.replaceAll(/\W+/g, "-")}-${index}`;
