// Statistics of one column: counts, moments, a histogram or the most frequent values.

import { json } from "../api";
import { Bars } from "../Bars";
import * as format from "../format";
import { Problem } from "../shell/Problem";
import type { Column, ColumnStatistics, Place } from "../types";
import { useAsked } from "../useAsked";

interface ColumnCardProps {
  place: Place;
  column: Column | undefined;
  where: string;
}

export function ColumnCard({ place, column, where }: ColumnCardProps) {
  const name = column?.name ?? "";
  const { value, error, isLoading } = useAsked(
    (signal) => json<ColumnStatistics>("column", { ...place, name, where, bins: 32 }, signal),
    [place.file, place.path, name, where],
  );
  return (
    <article className="card" aria-busy={isLoading}>
      <h3>{name}</h3>
      <p className="quiet">
        {column?.dtype}
        {column?.indexed ? ", indexed" : ""}
      </p>
      {error && <Problem error={error} />}
      {value && <Statistics statistics={value} name={name} />}
    </article>
  );
}

function Statistics({ statistics, name }: { statistics: ColumnStatistics; name: string }) {
  const { count, nulls, distinct, min, max, mean, std, histogram, top } = statistics;
  const facts: [string, string][] = [
    ["count", format.whole(count)],
    ["nulls", nulls ? format.whole(nulls) : ""],
    ["distinct", format.whole(distinct)],
    ["min", format.cell(min)],
    ["max", format.cell(max)],
    ["mean", format.cell(mean)],
    ["std", format.cell(std)],
  ];
  return (
    <>
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
      {histogram && histogram.counts.length > 0 && <Bars label={`Histogram of ${name}`} {...histogram} />}
      {top && top.length > 0 && <Top top={top} count={count} />}
    </>
  );
}

function Top({ top, count }: { top: [unknown, number][]; count: number }) {
  const most = Math.max(...top.map(([, n]) => n), 1);
  return (
    <table className="top" aria-label="Most frequent values">
      <tbody>
        {top.slice(0, 10).map(([value, n], i) => (
          <tr key={i}>
            <th scope="row" title={format.cell(value)}>{format.cell(value) || "(empty)"}</th>
            <td className="number">{format.whole(n)}</td>
            <td className="meter" title={`${((100 * n) / Math.max(1, count)).toFixed(1)} %`}>
              <span style={{ width: `${(100 * n) / most}%` }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
