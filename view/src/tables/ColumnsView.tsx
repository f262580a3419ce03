// All columns of a table: how they are stored, and statistics of the chosen one.

import { useState } from "react";
import { json } from "../api";
import * as format from "../format";
import { Problem } from "../shell/Problem";
import type { Place, Schema } from "../types";
import { useAsked } from "../useAsked";
import { ColumnCard } from "./ColumnCard";

export function ColumnsView({ place, where }: { place: Place; where: string }) {
  const { value, error } = useAsked((signal) => json<Schema>("schema", { ...place }, signal), [place.file, place.path]);
  const [chosen, setChosen] = useState<string | null>(null);
  if (error) return <Problem error={error} />;
  if (!value) return null;
  const name = chosen ?? value.columns[0]?.name;
  return (
    <div className="columns-view">
      <div className="scrolled">
        <table className="listing">
          <thead>
            <tr>
              <th>Column</th>
              <th>Dtype</th>
              <th>Kind</th>
              <th>Index</th>
              <th className="number">Size</th>
              <th className="number">Stored</th>
              <th className="number">Ratio</th>
            </tr>
          </thead>
          <tbody>
            {value.columns.map((column) => (
              <tr key={column.name} className={column.name === name ? "chosen" : ""}>
                <td>
                  <button
                    type="button"
                    className="link"
                    aria-pressed={column.name === name}
                    onClick={() => setChosen(column.name)}
                  >
                    {column.name}
                  </button>
                </td>
                <td>{column.dtype}</td>
                <td>{column.kind}</td>
                <td>{column.indexed ? "yes" : ""}</td>
                <td className="number">{format.bytes(column.nbytes)}</td>
                <td className="number">{format.bytes(column.stored)}</td>
                <td className="number">{format.ratio(column.nbytes, column.stored)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div>
        {where !== "" && <p className="quiet">Of the rows where {where}</p>}
        {name !== undefined && (
          <ColumnCard place={place} column={value.columns.find((column) => column.name === name)} where={where} />
        )}
      </div>
    </div>
  );
}
