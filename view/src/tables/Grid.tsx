// A grid of cells of which only the visible ones exist: rows of tables, and planes of arrays.

import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { KeyboardEvent, ReactNode } from "react";
import { type Extent, heightOf, isScaled, lastTop, positionOf, topAt, topShowing } from "./scroll";

const ROW_HEIGHT = 28;

/** What the grid shows: the first of the visible rows and columns, and the first that are not. */
export interface Window {
  row: number;
  rowStop: number;
  column: number;
  columnStop: number;
}

export interface GridProps {
  label: string;
  rows: number;
  widths: number[];
  headWidth: number;
  head: (column: number) => ReactNode;
  sortOf?: (column: number) => "ascending" | "descending" | "none";
  rowLabel: (row: number) => string;
  /** The text of a cell; undefined while it is on its way. */
  cell: (row: number, column: number) => string | undefined;
  isNumber: (column: number) => boolean;
  onWindow: (window: Window) => void;
}

interface Cell {
  row: number;
  column: number;
}

/** Return where columns begin, and where the last one ends. */
function edgesOf(widths: number[]): number[] {
  const edges = [0];
  for (const width of widths) edges.push((edges[edges.length - 1] ?? 0) + width);
  return edges;
}

/** Return the last column that begins at or before `left`. */
function columnAt(edges: number[], left: number): number {
  let low = 0;
  let high = edges.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((edges[middle] ?? 0) <= left) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** Return the size of an element, also after it changed. */
export function useSize<T extends HTMLElement>() {
  const ref = useRef<T>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, ...size };
}

/** Return where a key moves the active cell. */
function moved(key: string, at: Cell, page: number, whole: Cell, isFar: boolean): Cell | null {
  const { row, column } = at;
  const moves: Record<string, Cell> = {
    ArrowDown: { row: row + 1, column },
    ArrowUp: { row: row - 1, column },
    ArrowRight: { row, column: column + 1 },
    ArrowLeft: { row, column: column - 1 },
    PageDown: { row: row + page, column },
    PageUp: { row: row - page, column },
    Home: { row: isFar ? 0 : row, column: 0 },
    End: { row: isFar ? whole.row - 1 : row, column: whole.column - 1 },
  };
  const to = moves[key];
  if (!to) return null;
  const clamp = (value: number, length: number) => Math.min(Math.max(value, 0), Math.max(0, length - 1));
  return { row: clamp(to.row, whole.row), column: clamp(to.column, whole.column) };
}

export function Grid(props: GridProps) {
  const { rows, widths, headWidth, onWindow } = props;
  const { ref, width, height } = useSize<HTMLDivElement>();
  const [top, setTop] = useState(0);
  const [left, setLeft] = useState(0);
  const [active, setActive] = useState<Cell>({ row: 0, column: 0 });
  const edges = useMemo(() => edgesOf(widths), [widths]);
  const extent: Extent = { rows, rowHeight: ROW_HEIGHT, viewport: Math.max(ROW_HEIGHT, height - ROW_HEIGHT) };
  const expected = useRef(0);

  const scrollTo = useCallback(
    (row: number) => {
      const next = Math.min(Math.max(row, 0), lastTop(extent));
      setTop(next);
      expected.current = positionOf(extent, next);
      if (ref.current) ref.current.scrollTop = expected.current;
    },
    [extent.rows, extent.viewport],
  );

  const onScroll = () => {
    const element = ref.current;
    if (!element) return;
    setLeft(element.scrollLeft);
    // Our own moves come back rounded to pixels, which are many rows each where the scrollbar is scaled.
    if (Math.abs(element.scrollTop - expected.current) < 1.5) return;
    expected.current = element.scrollTop;
    setTop(topAt(extent, element.scrollTop));
  };

  useEffect(() => {
    const element = ref.current;
    if (!element || !isScaled(extent)) return undefined;
    const onWheel = (event: WheelEvent) => {
      if (event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
      event.preventDefault();
      const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * ROW_HEIGHT : event.deltaY;
      scrollTo(top + pixels / ROW_HEIGHT);
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  });

  const row = Math.floor(top);
  const rowStop = Math.min(rows, Math.ceil(top + extent.viewport / ROW_HEIGHT) + 1);
  const column = columnAt(edges, left);
  const columnStop = Math.min(widths.length, columnAt(edges, left + Math.max(0, width - headWidth)) + 1);
  useEffect(() => {
    if (height > 0) onWindow({ row, rowStop, column, columnStop });
  }, [row, rowStop, column, columnStop, height, onWindow]);

  useEffect(() => {
    setActive({ row: 0, column: 0 });
    scrollTo(0);
  }, [rows]);

  const activate = (to: Cell) => {
    setActive(to);
    scrollTo(topShowing(extent, top, to.row));
    const from = edges[to.column] ?? 0;
    const until = edges[to.column + 1] ?? 0;
    const room = width - headWidth;
    if (ref.current && from < left) ref.current.scrollLeft = from;
    if (ref.current && until > left + room) ref.current.scrollLeft = Math.min(from, until - room);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.altKey) return;
    const page = Math.max(1, Math.floor(extent.viewport / ROW_HEIGHT) - 1);
    const to = moved(event.key, active, page, { row: rows, column: widths.length }, event.ctrlKey || event.metaKey);
    if (!to) return;
    event.preventDefault();
    activate(to);
  };

  const columns = range(column, columnStop);
  const place = { headWidth, edges, left };
  return (
    <div
      ref={ref}
      className="grid"
      role="grid"
      tabIndex={0}
      aria-label={props.label}
      aria-rowcount={rows + 1}
      aria-colcount={widths.length}
      aria-activedescendant={active.row >= row && active.row < rowStop ? `cell-${active.row}-${active.column}` : undefined}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <div style={{ height: heightOf(extent) + ROW_HEIGHT, width: headWidth + (edges[edges.length - 1] ?? 0) }}>
        <div className="grid-window" style={{ width, height }}>
          <Heads {...props} columns={columns} place={place} />
          <div className="grid-body" role="rowgroup" style={{ height: height - ROW_HEIGHT }}>
            {range(row, rowStop).map((index) => (
              <Row
                key={index}
                grid={props}
                index={index}
                y={(index - top) * ROW_HEIGHT}
                columns={columns}
                place={place}
                active={active.row === index ? active.column : -1}
                onActivate={(to) => {
                  ref.current?.focus({ preventScroll: true });
                  activate(to);
                }}
              />
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

function range(start: number, stop: number): number[] {
  return Array.from({ length: Math.max(0, stop - start) }, (_, i) => start + i);
}

interface Place {
  headWidth: number;
  edges: number[];
  left: number;
}

/** Where a column stands, and how wide it is. */
function boxOf({ headWidth, edges, left }: Place, column: number) {
  const from = edges[column] ?? 0;
  return { left: headWidth + from - left, width: (edges[column + 1] ?? from) - from };
}

function Heads({ columns, place, head, sortOf }: GridProps & { columns: number[]; place: Place }) {
  return (
    <div className="grid-heads" role="row" aria-rowindex={1} style={{ height: ROW_HEIGHT }}>
      <div className="grid-corner" role="columnheader" aria-label="row" style={{ width: place.headWidth }} />
      {columns.map((column) => (
        <div
          key={column}
          className="grid-head"
          role="columnheader"
          aria-colindex={column + 1}
          aria-sort={sortOf?.(column)}
          style={boxOf(place, column)}
        >
          {head(column)}
        </div>
      ))}
    </div>
  );
}

interface RowProps {
  grid: GridProps;
  index: number;
  y: number;
  columns: number[];
  place: Place;
  active: number;
  onActivate: (cell: Cell) => void;
}

function Row({ grid, index, y, columns, place, active, onActivate }: RowProps) {
  return (
    <div
      className={index % 2 ? "grid-row odd" : "grid-row"}
      role="row"
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${y}px)`, height: ROW_HEIGHT }}
    >
      <div className="grid-label" role="rowheader" style={{ width: place.headWidth }}>
        {grid.rowLabel(index)}
      </div>
      {columns.map((column) => {
        const text = grid.cell(index, column);
        const names = ["grid-cell", grid.isNumber(column) ? "number" : "", text === undefined ? "pending" : ""];
        return (
          <div
            key={column}
            id={`cell-${index}-${column}`}
            role="gridcell"
            aria-colindex={column + 1}
            aria-selected={active === column}
            className={names.filter(Boolean).join(" ")}
            style={boxOf(place, column)}
            title={text}
            onMouseDown={() => onActivate({ row: index, column })}
          >
            {text ?? "…"}
          </div>
        );
      })}
    </div>
  );
}
