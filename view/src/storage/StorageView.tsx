// How an array is stored: its chunks as a picture, coloured by their ratio.

import { useState } from "react";
import { json } from "../api";
import * as format from "../format";
import { filtersOf } from "../shell/Facts";
import { Problem } from "../shell/Problem";
import type { Info, Place, Schema, Storage, StoredChunk } from "../types";
import { useAsked } from "../useAsked";
import { ChunkPicture } from "./ChunkPicture";
import { indexOf, positionOf } from "./chunks";

const PAGE = 5000;

interface StorageViewProps {
  place: Place;
  kind: Info["kind"];
  selection: string;
}

export function StorageView({ place, kind, selection }: StorageViewProps) {
  const [offset, setOffset] = useState(0);
  const [chosen, setChosen] = useState<StoredChunk | null>(null);
  const { value, error } = useAsked(
    (signal) => json<Storage>("storage", { ...place, offset, most: PAGE, selection }, signal),
    [place.file, place.path, offset, selection],
  );
  if (error && kind === "table") return <ColumnSizes place={place} />;
  if (error) return <Problem error={error} />;
  if (!value) return <p className="loading" role="status">Reading…</p>;
  return (
    <div className="storage-view">
      <Summary storage={value} selection={selection} />
      {kind === "table" && <ColumnSizes place={place} />}
      {value.chunks.length > 0 && (
        <ChunkPicture storage={value} selection={selection} onChoose={setChosen} />
      )}
      {value.total > value.chunks.length && (
        <Pager offset={offset} shown={value.chunks.length} total={value.total} onOffset={setOffset} />
      )}
      <p className="chosen" role="status" aria-live="polite">
        {chosen ? describe(chosen, value.grid) : value.chunks.length ? "Point at a chunk, or move with the arrow keys." : ""}
      </p>
    </div>
  );
}

/** Return what is known of a chunk, as a sentence. */
function describe(chunk: StoredChunk, grid: number[]): string {
  const index = indexOf(chunk.index, grid);
  const where = grid.length > 1 ? ` at (${positionOf(index, grid).join(", ")})` : "";
  const facts = [
    chunk.special ? `all ${chunk.special}` : chunk.codec,
    `${format.bytes(chunk.nbytes)} in ${format.bytes(chunk.stored ?? 0)}`,
    format.ratio(chunk.nbytes, chunk.stored),
    chunk.offset ? `from byte ${format.whole(chunk.offset)}` : "",
  ];
  return `Chunk ${format.whole(index)}${where}: ${facts.filter(Boolean).join(", ")}`;
}

function Summary({ storage, selection }: { storage: Storage; selection: string }) {
  const { touched } = storage;
  const facts: [string, string][] = [
    ["Codec", storage.codec ?? ""],
    ["Filters", filtersOf(storage.filters)],
    ["Chunk", format.shape(storage.chunk_shape)],
    ["Block", format.shape(storage.block_shape)],
    ["Chunks", format.whole(storage.total)],
    ["Size", format.bytes(storage.nbytes)],
    ["Stored", format.bytes(storage.stored)],
    ["Ratio", format.ratio(storage.nbytes, storage.stored)],
  ];
  const parts = touched && [
    `${format.whole(touched.chunks)} of ${format.whole(storage.total)} chunks`,
    touched.blocks ? `${format.whole(touched.blocks)} blocks` : "",
    touched.bytes ? `${format.bytes(touched.bytes)} read` : "",
    touched.values ? `${format.whole(touched.values)} values` : "",
  ];
  return (
    <>
      <dl className="numbers wide">
        {facts
          .filter(([, text]) => text !== "")
          .map(([label, text]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{text}</dd>
            </div>
          ))}
      </dl>
      {parts && (
        <p className="touched">
          The shown slice <code>[{selection}]</code> touches {parts.filter(Boolean).join(", ")}.
        </p>
      )}
    </>
  );
}

interface PagerProps {
  offset: number;
  shown: number;
  total: number;
  onOffset: (offset: number) => void;
}

function Pager({ offset, shown, total, onOffset }: PagerProps) {
  return (
    <p className="pager">
      <button type="button" disabled={offset === 0} onClick={() => onOffset(Math.max(0, offset - PAGE))}>
        Before
      </button>
      <span>
        Chunks {format.whole(offset)} to {format.whole(offset + shown - 1)} of {format.whole(total)}
      </span>
      <button type="button" disabled={offset + shown >= total} onClick={() => onOffset(offset + PAGE)}>
        Next
      </button>
    </p>
  );
}

/** Columns of a table with their sizes, as bars. */
function ColumnSizes({ place }: { place: Place }) {
  const { value } = useAsked((signal) => json<Schema>("schema", { ...place }, signal), [place.file, place.path]);
  const columns = (value?.columns ?? []).filter((column) => column.nbytes);
  const most = Math.max(1, ...columns.map((column) => Math.max(column.nbytes ?? 0, column.stored ?? 0)));
  if (!columns.some((column) => column.stored)) return null;
  return (
    <table className="listing sizes" aria-label="Sizes of columns">
      <thead>
        <tr>
          <th>Column</th>
          <th className="number">Size</th>
          <th className="number">Stored</th>
          <th className="number">Ratio</th>
          <th aria-label="Stored share" />
        </tr>
      </thead>
      <tbody>
        {columns.map(({ name, nbytes, stored }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className="number">{format.bytes(nbytes)}</td>
            <td className="number">{format.bytes(stored)}</td>
            <td className="number">{format.ratio(nbytes, stored)}</td>
            <td className="meter two">
              <span className="whole" style={{ width: `${(100 * (nbytes ?? 0)) / most}%` }} />
              <span style={{ width: `${(100 * (stored ?? 0)) / most}%` }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
