// Attributes, and how an object is stored.

import * as format from "../format";
import type { Attribute, Info } from "../types";

/** Return codec and filters as one text, whatever form the server gives filters in. */
export function filtersOf(filters: unknown): string {
  if (filters === null || filters === undefined) return "";
  if (Array.isArray(filters)) return filters.map(filtersOf).filter(Boolean).join(", ");
  if (typeof filters === "object" && "name" in filters) return String(filters.name);
  return typeof filters === "object" ? JSON.stringify(filters) : String(filters);
}

function rowsOf(info: Info): [string, string][] {
  const rows: [string, string][] = [
    ["Kind", info.kind],
    ["Dtype", info.dtype ?? ""],
    ["Shape", format.shape(info.shape)],
    ["Chunks", format.shape(info.chunks)],
    ["Blocks", format.shape(info.blocks)],
    ["Codec", info.codec ?? ""],
    ["Filters", filtersOf(info.filters)],
    ["Size", format.bytes(info.nbytes)],
    ["Stored", format.bytes(info.stored)],
    ["Ratio", format.ratio(info.nbytes, info.stored)],
    ["Fill value", format.cell(info.fill_value)],
    ["Scale factor", format.cell(info.scale_factor)],
    ["Offset", format.cell(info.add_offset)],
    ["Units", info.units ?? ""],
    ["Dimensions", (info.dimensions ?? []).filter(Boolean).join(", ")],
    ["Expression", info.expression ?? ""],
  ];
  return rows.filter(([, value]) => value !== "" && value !== "scalar");
}

export function Facts({ info }: { info: Info }) {
  return (
    <div className="facts">
      <section aria-labelledby="attributes">
        <h2 id="attributes">Attributes</h2>
        {info.attributes.length ? <Attributes attributes={info.attributes} /> : <p className="empty">There are none.</p>}
      </section>
      <section aria-labelledby="properties">
        <h2 id="properties">Properties</h2>
        <table className="listing">
          <tbody>
            {rowsOf(info).map(([name, value]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

function Attributes({ attributes }: { attributes: Attribute[] }) {
  return (
    <div className="scrolled">
      <table className="listing">
        <thead>
          <tr>
            <th>Name</th>
            <th>Value</th>
            <th>Type</th>
          </tr>
        </thead>
        <tbody>
          {attributes.map(({ name, value, type }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="value">{format.cell(value)}</td>
              <td className="quiet">{type}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
