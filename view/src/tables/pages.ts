// Cells come in pages of some rows and columns, and are kept while their question stays the same.

import { useCallback, useEffect, useRef, useState } from "react";
import type { Window } from "./Grid";

const ROWS = 128;
const COLUMNS = 24;
const MOST_PAGES = 120;
const SETTLE_MS = 60;

export interface PageRange {
  row: number;
  rowStop: number;
  column: number;
  columnStop: number;
}

/** Return the pages that a window of the grid touches. */
export function pagesOf(window: Window, rows: number, columns: number): PageRange[] {
  const pages: PageRange[] = [];
  for (let row = Math.floor(window.row / ROWS) * ROWS; row < Math.min(window.rowStop, rows); row += ROWS) {
    for (let column = Math.floor(window.column / COLUMNS) * COLUMNS; column < window.columnStop; column += COLUMNS) {
      pages.push({
        row,
        rowStop: Math.min(row + ROWS, rows),
        column,
        columnStop: Math.min(column + COLUMNS, columns),
      });
    }
  }
  return pages;
}

const keyOf = (row: number, column: number) => `${Math.floor(row / ROWS)},${Math.floor(column / COLUMNS)}`;

export interface PageSource<T> {
  /** Changes when what was read before is no answer any more. */
  question: string;
  rows: number;
  columns: number;
  read: (range: PageRange, signal: AbortSignal) => Promise<T>;
}

/** Read the pages that the grid shows; others that are on their way are given up. */
export function usePages<T>(source: PageSource<T>) {
  const kept = useRef(new Map<string, T>());
  const asked = useRef(new Map<string, AbortController>());
  const question = useRef(source.question);
  const timer = useRef(0);
  const [, redraw] = useState(0);
  const [error, setError] = useState<unknown>(null);
  const latest = useRef(source);
  const shown = useRef<Window | null>(null);
  latest.current = source;

  const load = useCallback((window: Window) => {
    const { rows, columns, read } = latest.current;
    const wanted = new Map(pagesOf(window, rows, columns).map((page) => [keyOf(page.row, page.column), page]));
    for (const [key, controller] of asked.current) {
      if (!wanted.has(key)) {
        controller.abort();
        asked.current.delete(key);
      }
    }
    for (const [key, page] of wanted) {
      if (kept.current.has(key) || asked.current.has(key)) continue;
      const controller = new AbortController();
      asked.current.set(key, controller);
      read(page, controller.signal)
        .then((result) => {
          if (controller.signal.aborted) return;
          if (kept.current.size >= MOST_PAGES) kept.current.delete(kept.current.keys().next().value ?? "");
          kept.current.set(key, result);
          setError(null);
        })
        .catch((problem) => controller.signal.aborted || setError(problem))
        .finally(() => {
          if (asked.current.get(key) === controller) asked.current.delete(key);
          if (!controller.signal.aborted) redraw((n) => n + 1);
        });
    }
  }, []);

  const onWindow = useCallback(
    (window: Window) => {
      shown.current = window;
      clearTimeout(timer.current);
      timer.current = setTimeout(() => load(window), SETTLE_MS) as unknown as number;
    },
    [load],
  );

  if (question.current !== source.question) {
    question.current = source.question;
    asked.current.forEach((controller) => controller.abort());
    asked.current.clear();
    kept.current.clear();
  }
  useEffect(() => {
    if (shown.current) load(shown.current);
  }, [source.question, source.rows, load]);
  useEffect(() => () => asked.current.forEach((controller) => controller.abort()), []);

  const pageAt = (row: number, column: number): T | undefined => kept.current.get(keyOf(row, column));
  return { onWindow, pageAt, error, pageRow: (row: number) => row % ROWS, pageColumn: (column: number) => column % COLUMNS };
}
