// Values of a plane, a line or a scalar as text.

import { useCallback, useRef } from "react";
import { json } from "../api";
import * as format from "../format";
import { Problem } from "../shell/Problem";
import { Grid, type Window } from "../tables/Grid";
import { type PageRange, usePages } from "../tables/pages";
import type { Place } from "../types";
import type { Region } from "./HeatMap";
import { type AxisRoles, type Range, isTurned, selectionOf } from "./selection";

interface MatrixProps {
  place: Place;
  roles: AxisRoles;
  x: Range | null;
  y: Range | null;
  isDecoded: boolean;
  isComplex: boolean;
  isNumber: boolean;
  onRegion: (region: Region) => void;
}

type Nested = unknown[][];

/** Return complex values, which come as pairs, as text such as "1+2j". */
function complexText(value: unknown): string {
  if (!Array.isArray(value) || value.length !== 2) return format.cell(value);
  const [re, im] = value as [number | null, number | null];
  const sign = (im ?? 0) < 0 ? "" : "+";
  return `${format.number(re)}${sign}${format.number(im)}j`;
}

/** Return JSON's nested lists as rows of cells. */
function rowsOf(answer: unknown, roles: AxisRoles): Nested {
  if (roles.x === null) return [[answer]];
  const list = answer as unknown[];
  if (roles.y === null) return list.map((value) => [value]);
  if (!isTurned(roles)) return list as Nested;
  const columns = list as Nested;
  return (columns[0] ?? []).map((_, row) => columns.map((column) => column[row]));
}

export function Matrix({ place, roles, x, y, isDecoded, isComplex, isNumber, onRegion }: MatrixProps) {
  const down = y ?? x;
  const across = y ? x : null;
  const rows = down ? down.stop - down.start : 1;
  const columns = across ? across.stop - across.start : 1;
  const partOf = (whole: Range | null, start: number, stop: number): Range | null =>
    whole && { start: whole.start + start, stop: whole.start + stop, step: 1 };
  const question = JSON.stringify([place, roles, x, y, isDecoded]);
  const read = useCallback(
    async (page: PageRange, signal: AbortSignal) => {
      const rowPart = partOf(down, page.row, page.rowStop);
      const columnPart = partOf(across, page.column, page.columnStop);
      const selection = y ? selectionOf(roles, columnPart, rowPart) : selectionOf(roles, rowPart, null);
      const answer = await json<unknown>("slice", { ...place, selection, format: "json", decode: isDecoded ? 1 : 0 }, signal);
      return rowsOf(answer, roles);
    },
    [question],
  );
  const pages = usePages({ question, rows, columns, read });
  const latest = useRef(onRegion);
  latest.current = onRegion;
  const onWindow = useCallback(
    (window: Window) => {
      pages.onWindow(window);
      const rowPart = partOf(down, window.row, window.rowStop);
      const columnPart = partOf(across, window.column, window.columnStop);
      if (rowPart) latest.current(y && columnPart ? { x: columnPart, y: rowPart } : { x: rowPart, y: null });
    },
    [question, pages.onWindow],
  );
  const cell = (row: number, column: number) => {
    const page = pages.pageAt(row, column);
    if (!page) return undefined;
    const value = page[pages.pageRow(row)]?.[pages.pageColumn(column)];
    if (isComplex) return complexText(value);
    return value === null && isNumber ? "nan" : format.cell(value);
  };
  return (
    <div className="matrix">
      {pages.error instanceof Error && <Problem error={pages.error} />}
      <Grid
        label="Values"
        rows={rows}
        widths={Array.from({ length: Math.min(columns, 100_000) }, () => (isComplex ? 170 : isNumber ? 104 : columns > 1 ? 160 : 420))}
        headWidth={Math.max(84, format.whole(rows).length * 8 + 24)}
        head={(column) => <span className={isNumber ? "name number" : "name"}>{across ? format.whole(across.start + column) : "value"}</span>}
        rowLabel={(row) => (down ? format.whole(down.start + row) : "")}
        cell={cell}
        isNumber={() => isNumber}
        onWindow={onWindow}
      />
    </div>
  );
}
