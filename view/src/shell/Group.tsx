// What a group holds, as a table.

import { json } from "../api";
import * as format from "../format";
import type { Place, Tree } from "../types";
import { useAsked } from "../useAsked";
import { KindIcon } from "./KindIcon";
import { Problem } from "./Problem";

export function Group({ place, onSelect }: { place: Place; onSelect: (place: Place) => void }) {
  const { value, error } = useAsked((signal) => json<Tree>("tree", { ...place }, signal), [place.file, place.path]);
  if (error) return <Problem error={error} />;
  if (!value) return null;
  if (!value.children.length) return <p className="empty">This group is empty.</p>;
  return (
    <div className="scrolled">
      <table className="listing">
        <thead>
          <tr>
            <th>Name</th>
            <th>Kind</th>
            <th>Dtype</th>
            <th className="number">Shape</th>
            <th className="number">Size</th>
            <th className="number">Stored</th>
            <th className="number">Ratio</th>
          </tr>
        </thead>
        <tbody>
          {value.children.map((child) => (
            <tr key={child.path}>
              <td>
                <button type="button" className="link" onClick={() => onSelect({ file: place.file, path: child.path })}>
                  <KindIcon kind={child.kind} /> {child.name}
                </button>
              </td>
              <td>{child.kind}</td>
              <td>{child.kind === "link" ? `→ ${child.to}` : child.dtype}</td>
              <td className="number">
                {child.kind === "table" ? `${format.whole(child.rows)} rows × ${child.columns?.length ?? "?"} columns` : format.shape(child.shape)}
              </td>
              <td className="number">{format.bytes(child.nbytes)}</td>
              <td className="number">{format.bytes(child.stored)}</td>
              <td className="number">{format.ratio(child.nbytes, child.stored)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
