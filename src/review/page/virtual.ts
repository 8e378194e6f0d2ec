/** Long lists that put only their visible rows into the document. */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from "@tanstack/virtual-core";
import { useLayoutEffect, useReducer, useState } from "preact/hooks";

interface VirtualOptions {
  readonly count: number;
  /** Returns the height of a row in pixels, or its estimate if the row is measured. */
  readonly heightOf: (index: number) => number;
  readonly element: { readonly current: HTMLElement | null };
}

export interface VirtualRows {
  readonly rows: readonly VirtualItem[];
  readonly height: number;
  scrollTo(index: number, align?: "auto" | "start"): void;
  /** The `ref` of a row whose height depends on its content. */
  readonly measure: (row: Element | null) => void;
}

/** Returns the rows to render now, and renders again when others come into view. */
export function useVirtual({ count, heightOf, element }: VirtualOptions): VirtualRows {
  const [, render] = useReducer((turn: number) => turn + 1, 0);
  const [virtualizer] = useState(
    () =>
      new Virtualizer<HTMLElement, Element>({
        count,
        estimateSize: heightOf,
        getScrollElement: () => element.current,
        observeElementRect,
        observeElementOffset,
        scrollToFn: elementScroll,
        overscan: 12,
        onChange: () => render(undefined),
      }),
  );
  const isSame = virtualizer.options.estimateSize === heightOf;
  virtualizer.setOptions({ ...virtualizer.options, count, estimateSize: heightOf });
  if (!isSame) virtualizer.measure();
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return {
    rows: virtualizer.getVirtualItems(),
    height: virtualizer.getTotalSize(),
    measure: virtualizer.measureElement,
    scrollTo: (index, align = "auto") => virtualizer.scrollToIndex(index, { align }),
  };
}
