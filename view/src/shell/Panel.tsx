// The chosen object: what it is, and the views of it.

import { Suspense, lazy, useState } from "react";
import type { KeyboardEvent } from "react";
import { json } from "../api";
import * as format from "../format";
import type { Info, Place } from "../types";
import { useAsked } from "../useAsked";
import { Facts } from "./Facts";
import { Group } from "./Group";
import { KindIcon } from "./KindIcon";
import { Guard, Problem } from "./Problem";
import { StorageView } from "../storage/StorageView";
import { ColumnsView } from "../tables/ColumnsView";
import { RowsView } from "../tables/RowsView";

// WebGL's part of the page is large, and tables and attributes do without it.
const ArrayView = lazy(() => import("../arrays/ArrayView"));
const PlotView = lazy(() => import("../tables/PlotView"));

const VIEWS: Record<Info["kind"], string[]> = {
  group: ["contents", "attributes"],
  link: ["attributes"],
  array: ["data", "storage", "attributes"],
  expression: ["data", "attributes"],
  table: ["rows", "columns", "plot", "storage", "attributes"],
  type: ["attributes"],
  frame: ["storage", "attributes"],
  damaged: ["attributes"],
};

interface PanelProps {
  place: Place;
  view: string;
  onView: (view: string) => void;
  onSelect: (place: Place) => void;
}

export function Panel({ place, view, onView, onSelect }: PanelProps) {
  const { value: info, error } = useAsked((signal) => json<Info>("info", { ...place }, signal), [place.file, place.path]);
  const [selection, setSelection] = useState("");
  const [where, setWhere] = useState("");
  if (error) return <Problem error={error} />;
  if (!info) return <p className="loading" role="status">Reading…</p>;
  const views = VIEWS[info.kind];
  const shown = views.includes(view) ? view : (views[0] ?? "");
  return (
    <>
      <Title place={place} info={info} />
      <Tabs views={views} shown={shown} onView={onView} />
      <section id="view" role="tabpanel" aria-labelledby={`tab-${shown}`} className={`view ${shown}`}>
        <Guard key={shown}>
        <Suspense fallback={<p className="loading" role="status">Loading…</p>}>
          {shown === "contents" && <Group place={place} onSelect={onSelect} />}
          {shown === "data" && <ArrayView place={place} info={info} onSelection={setSelection} />}
          {shown === "rows" && <RowsView place={place} where={where} onWhere={setWhere} />}
          {shown === "columns" && <ColumnsView place={place} where={where} />}
          {shown === "plot" && <PlotView place={place} where={where} />}
          {shown === "storage" && <StorageView place={place} info={info} selection={selection} />}
          {shown === "attributes" && <Facts info={info} />}
        </Suspense>
        </Guard>
      </section>
    </>
  );
}

function Title({ place, info }: { place: Place; info: Info }) {
  const name = place.path === "/" ? place.file.split("/").pop() : place.path;
  const facts = [
    info.dtype,
    info.shape ? format.shape(info.shape) : "",
    info.kind === "table" && info.columns ? `${format.whole(info.rows)} rows × ${info.columns.length} columns` : "",
    format.bytes(info.nbytes),
    info.stored ? `${format.bytes(info.stored)} stored` : "",
    format.ratio(info.nbytes, info.stored),
  ];
  return (
    <div className="title">
      <h1>
        <KindIcon kind={info.kind} /> {name}
      </h1>
      <p>
        {[info.kind, ...facts].filter(Boolean).map((fact, i) => (
          <span key={i} className="fact">{fact}</span>
        ))}
      </p>
    </div>
  );
}

interface TabsProps {
  views: string[];
  shown: string;
  onView: (view: string) => void;
}

function Tabs({ views, shown, onView }: TabsProps) {
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    // The tab that has the focus may be ahead of the shown one: keys are faster than drawings.
    const at = views.findIndex((name) => `tab-${name}` === document.activeElement?.id);
    const next = views[((at < 0 ? views.indexOf(shown) : at) + step + views.length) % views.length] ?? shown;
    onView(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label="Views" onKeyDown={onKeyDown}>
      {views.map((name) => (
        <button
          key={name}
          id={`tab-${name}`}
          type="button"
          role="tab"
          aria-selected={name === shown}
          aria-controls="view"
          tabIndex={name === shown ? 0 : -1}
          onClick={() => onView(name)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
