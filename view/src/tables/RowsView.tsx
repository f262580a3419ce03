// The rows of a table, found by a condition and sorted by a column.

import { useCallback, useState } from "react";
import { ServerError, download, json } from "../api";
import * as format from "../format";
import { Problem } from "../shell/Problem";
import type { Column, Place, Rows, Schema } from "../types";
import { useAsked } from "../useAsked";
import { ColumnCard } from "./ColumnCard";
import { Grid } from "./Grid";
import { type PageRange, usePages } from "./pages";
import { Where } from "./Where";

interface RowsViewProps {
  place: Place;
  where: string;
  onWhere: (where: string) => void;
}

const MOST_EXPORTED = 1_000_000;

/** Return the order that a click on a column's head asks for: up, down, then as stored. */
function nextSort(sort: string, name: string): string {
  if (sort === name) return `-${name}`;
  return sort === `-${name}` ? "" : name;
}

const WIDTHS: Record<string, number> = { text: 180, time: 200, nested: 220, array: 220, bytes: 180, bool: 80 };

function widthOf(column: Column): number {
  return Math.max(WIDTHS[column.kind] ?? 120, Math.min(260, column.name.length * 9 + 60));
}

export function RowsView({ place, where, onWhere }: RowsViewProps) {
  const schema = useAsked((signal) => json<Schema>("schema", { ...place }, signal), [place.file, place.path]);
  const [sort, setSort] = useState("");
  const [picked, setPicked] = useState<string | null>(null);
  const columns = schema.value?.columns ?? [];
  const counted = useAsked(
    where === "" || !schema.value
      ? null
      : (signal) => json<Rows>("rows", { ...place, where, start: 0, stop: 1, columns: columns[0]?.name, format: "json" }, signal),
    [where, schema.value],
  );
  const rows = where === "" ? (schema.value?.rows ?? 0) : (counted.value?.total ?? 0);
  const isReady = where === "" || counted.value !== undefined;

  const read = useCallback(
    (range: PageRange, signal: AbortSignal) => {
      const names = columns.slice(range.column, range.columnStop).map((column) => column.name);
      const parameters = { start: range.row, stop: range.rowStop, columns: names.map(quoted).join(","), where, sort };
      return json<Rows>("rows", { ...place, ...parameters, format: "json" }, signal);
    },
    [place.file, place.path, where, sort, schema.value],
  );
  const question = JSON.stringify([where, sort, columns.length, rows]);
  const pages = usePages({ question, rows: isReady ? rows : 0, columns: columns.length, read });

  if (schema.error) return <Problem error={schema.error} />;
  if (!schema.value) return <p className="loading" role="status">Reading…</p>;
  const error = counted.error ?? pages.error;
  const isCondition = where !== "" && error instanceof ServerError && error.status === 400;
  const cell = (row: number, index: number) => {
    const page = pages.pageAt(row, index);
    const values = page?.values[columns[index]?.name ?? ""];
    return values && format.cell(values[pages.pageRow(row)]);
  };
  const rowLabel = (row: number) => {
    if (where === "" && sort === "") return format.whole(row);
    const number = pages.pageAt(row, 0)?.rows?.[pages.pageRow(row)];
    return number === undefined ? "…" : format.whole(number);
  };
  return (
    <div className="rows-view">
      <div className="bar">
        <Where where={where} onWhere={onWhere} error={error} />
        <p className="count" role="status" aria-live="polite">
          {isCondition ? "" : isReady && !counted.isLoading ? `${format.whole(rows)} of ${format.whole(schema.value.rows)} rows` : "Searching…"}
        </p>
        <Exports place={place} where={where} sort={sort} rows={rows} />
      </div>
      {error instanceof Error && !isCondition && <Problem error={error} />}
      <div className="side-by-side">
        <Grid
          label={`Rows of ${place.path}`}
          rows={isReady && !isCondition ? rows : 0}
          widths={columns.map(widthOf)}
          headWidth={Math.max(64, format.whole(schema.value.rows).length * 8 + 24)}
          rowLabel={rowLabel}
          cell={cell}
          isNumber={(index) => ["integer", "float", "complex"].includes(columns[index]?.kind ?? "")}
          sortOf={(index) => sortName(sort, columns[index]?.name)}
          onWindow={pages.onWindow}
          head={(index) => (
            <Head
              column={columns[index]}
              sort={sort}
              onSort={(name) => setSort(nextSort(sort, name))}
              onPick={(name) => setPicked(picked === name ? null : name)}
            />
          )}
        />
        {picked !== null && (
          <aside aria-label={`Statistics of ${picked}`}>
            <button type="button" className="close" aria-label="Close" onClick={() => setPicked(null)}>
              ×
            </button>
            <ColumnCard place={place} column={columns.find((column) => column.name === picked)} where={where} />
          </aside>
        )}
      </div>
    </div>
  );
}

/** Names are separated by commas; one with a comma in it stands in quotes, as in CSV. */
export function quoted(name: string): string {
  return /[,"]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}

function sortName(sort: string, name: string | undefined) {
  if (sort === name) return "ascending";
  return sort === `-${name}` ? "descending" : "none";
}

interface HeadProps {
  column: Column | undefined;
  sort: string;
  onSort: (name: string) => void;
  onPick: (name: string) => void;
}

function Head({ column, sort, onSort, onPick }: HeadProps) {
  if (!column) return null;
  const order = sortName(sort, column.name);
  const arrow = { ascending: "▲", descending: "▼", none: "" }[order];
  return (
    <>
      <button
        type="button"
        className="sort"
        title={`${column.name}: ${column.dtype}${column.indexed ? ", indexed" : ""}. Click to sort.`}
        onClick={() => onSort(column.name)}
      >
        <span className="name">{column.name}</span>
        {column.indexed && <span className="badge" aria-label="indexed">idx</span>}
        <span className="arrow" aria-hidden="true">{arrow}</span>
      </button>
      <button type="button" className="pick" aria-label={`Statistics of ${column.name}`} onClick={() => onPick(column.name)}>
        Σ
      </button>
    </>
  );
}

function Exports({ place, where, sort, rows }: { place: Place; where: string; sort: string; rows: number }) {
  const stop = Math.min(rows, MOST_EXPORTED);
  const link = (kind: string) => download("rows", { ...place, where, sort, start: 0, stop, format: kind });
  const name = (place.path.split("/").pop() || place.file.split("/").pop()) ?? "rows";
  const isPart = rows > MOST_EXPORTED ? `, the first ${format.whole(MOST_EXPORTED)} rows` : "";
  return (
    <p className="exports">
      <span>Save</span>
      <a href={link("csv")} download={`${name}.csv`} title={`Save as CSV${isPart}`}>CSV</a>
      <a href={link("parquet")} download={`${name}.parquet`} title={`Save as Parquet${isPart}`}>Parquet</a>
    </p>
  );
}
