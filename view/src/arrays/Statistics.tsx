// Histogram and moments of the shown part.

import { useState } from "react";
import { json } from "../api";
import { Bars } from "../Bars";
import * as format from "../format";
import { Problem } from "../shell/Problem";
import type { Histogram, Place } from "../types";
import { useAsked, useSettled } from "../useAsked";
import type { Part } from "./values";

interface StatisticsProps {
  place: Place;
  selection: string;
  isDecoded: boolean;
  /** What is drawn of complex values. */
  part: Part | null;
}

const SETTLE_MS = 300;

export function Statistics({ place, selection, isDecoded, part }: StatisticsProps) {
  const [isLog, setLog] = useState(false);
  const settled = useSettled(selection, SETTLE_MS);
  const { value, error, isLoading } = useAsked(
    (signal) => json<Histogram>("histogram", { ...place, selection: settled, bins: 64, log: isLog ? 1 : 0, decode: isDecoded ? 1 : 0, part }, signal),
    [place.file, place.path, settled, isLog, isDecoded, part],
  );
  const facts: [string, string][] = value
    ? [
        ["min", format.number(value.min)],
        ["max", format.number(value.max)],
        ["mean", format.number(value.mean)],
        ["std", format.number(value.std)],
        ["count", format.whole(value.count)],
        ["nan", value.nans ? format.whole(value.nans) : ""],
        ["fill", value.fills ? format.whole(value.fills) : ""],
      ]
    : [];
  return (
    <section className="card statistics" aria-label="Statistics of the shown part" aria-busy={isLoading || settled !== selection}>
      <h3>Shown part{part && `: ${part}`}</h3>
      <code className="selection">[{settled}]</code>
      {error && <Problem error={error} />}
      {value && value.counts.length > 0 && <Bars label="Histogram of the shown part" edges={value.edges} counts={value.counts} />}
      <dl className="numbers">
        {facts
          .filter(([, text]) => text !== "")
          .map(([label, text]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{text}</dd>
            </div>
          ))}
      </dl>
      <label className="check">
        <input type="checkbox" checked={isLog} onChange={(event) => setLog(event.target.checked)} /> logarithmic bins
      </label>
    </section>
  );
}
