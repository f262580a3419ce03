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
  info: Info;
  selection: string;
}

export function StorageView({ place, info, selection }: StorageViewProps) {
  const isColumns = info.kind === "table" && info.layout !== "rows";
  const [column, setColumn] = useState(info.columns?.[0] ?? "");
  if (isColumns) {
    return (
      <div className="storage-view">
        <ColumnSizes place={place} column={column} onColumn={setColumn} />
        <Chunks key={column} place={place} column={column} selection="" />
      </div>
    );
  }
  const isChunked = info.kind === "table" || info.kind === "frame" || Boolean(info.chunks?.length);
  return (
    <div className="storage-view">
      {isChunked ? <Chunks place={place} column="" selection={selection} /> : <OnePiece info={info} />}
    </div>
  );
}

/** What is stored without a grid of chunks: scalars, contiguous datasets, packed files. */
function OnePiece({ info }: { info: Info }) {
  return (
    <>
      <Numbers
        facts={[
          ["Size", format.bytes(info.nbytes)],
          ["Stored", format.bytes(info.stored)],
          ["Ratio", format.ratio(info.nbytes, info.stored)],
        ]}
      />
      <p className="quiet">This array has no grid of chunks.</p>
    </>
  );
}

function Chunks({ place, column, selection }: { place: Place; column: string; selection: string }) {
  const [offset, setOffset] = useState(0);
  const [chosen, setChosen] = useState<StoredChunk | null>(null);
  const { value, error } = useAsked(
    (signal) => json<Storage>("storage", { ...place, column, offset, most: PAGE, selection }, signal),
    [place.file, place.path, column, offset, selection],
  );
  if (error) return <Problem error={error} />;
  if (!value) return <p className="loading" role="status">Reading…</p>;
  return (
    <>
      <Summary storage={value} selection={selection} />
      {value.chunks.length > 0 && <ChunkPicture storage={value} selection={selection} onChoose={setChosen} />}
      {value.total > value.chunks.length && (
        <Pager offset={offset} shown={value.chunks.length} total={value.total} onOffset={setOffset} />
      )}
      <p className="chosen" role="status" aria-live="polite">
        {chosen ? describe(chosen, value.grid) : value.chunks.length ? "Point at a chunk, or move with the arrow keys." : ""}
      </p>
    </>
  );
}

function Numbers({ facts }: { facts: [string, string][] }) {
  return (
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
      <Numbers facts={facts} />
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

interface ColumnSizesProps {
  place: Place;
  column: string;
  onColumn: (name: string) => void;
}

/** Columns of a table with their sizes, as bars; the chunks of the chosen one are shown. */
function ColumnSizes({ place, column, onColumn }: ColumnSizesProps) {
  const { value } = useAsked((signal) => json<Schema>("schema", { ...place }, signal), [place.file, place.path]);
  const columns = value?.columns ?? [];
  const most = Math.max(1, ...columns.map(({ nbytes, stored }) => Math.max(nbytes ?? 0, stored ?? 0)));
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
          <tr key={name} className={name === column ? "chosen" : ""}>
            <th scope="row">
              <button type="button" className="link" aria-pressed={name === column} onClick={() => onColumn(name)}>
                {name}
              </button>
            </th>
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
