// The tree as a flat list of the rows that are visible, which keys and roles of a tree need.

import type { Child, FileEntry, Kind, Place } from "../types";

export interface Node {
  id: string;
  name: string;
  kind: Kind | "folder" | "file";
  /** The object to show; null for folders. */
  place: Place | null;
  folder: string | null;
  stored: number | null;
  nbytes: number | null;
  /** What stands behind the name: shape, rows. */
  note: string;
  isBranch: boolean;
}

export interface Row {
  node: Node;
  level: number;
  position: number;
  siblings: number;
  isOpen: boolean;
}

export const idOf = (place: Place): string => `${place.file}|${place.path}`;

export function ofEntry(entry: FileEntry): Node {
  const isFolder = entry.kind === "folder";
  return {
    id: isFolder ? `folder|${entry.path}` : idOf({ file: entry.path, path: "/" }),
    name: entry.name,
    kind: entry.kind,
    place: isFolder ? null : { file: entry.path, path: "/" },
    folder: isFolder ? entry.path : null,
    stored: isFolder ? null : entry.size,
    nbytes: null,
    note: entry.format ?? "",
    isBranch: true,
  };
}

export function ofChild(file: string, child: Child): Node {
  const place = { file, path: child.path };
  return {
    id: idOf(place),
    name: child.name,
    kind: child.kind,
    place,
    folder: null,
    stored: child.stored ?? null,
    nbytes: child.nbytes ?? null,
    note: noteOf(child),
    isBranch: child.kind === "group",
  };
}

function noteOf(child: Child): string {
  if (child.kind === "table") return `${(child.rows ?? 0).toLocaleString("en")} rows`;
  if (child.kind === "link") return `→ ${child.to}`;
  return child.kind === "damaged" ? "damaged" : (child.shape ?? []).join("×");
}

/** Return the visible rows, from the root's children and those of open nodes. */
export function rowsOf(roots: Node[], children: ReadonlyMap<string, Node[]>, open: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  const add = (nodes: Node[], level: number) => {
    nodes.forEach((node, i) => {
      const below = children.get(node.id);
      const isBranch = node.isBranch && below?.length !== 0;
      const isOpen = isBranch && open.has(node.id);
      rows.push({ node: { ...node, isBranch }, level, position: i + 1, siblings: nodes.length, isOpen });
      if (isOpen && below) add(below, level + 1);
    });
  };
  add(roots, 1);
  return rows;
}

/** Return the index of the row that a key moves to from `at`, or null. */
export function movedBy(key: string, rows: Row[], at: number): number | null {
  const level = rows[at]?.level ?? 1;
  if (key === "ArrowDown") return Math.min(at + 1, rows.length - 1);
  if (key === "ArrowUp") return Math.max(at - 1, 0);
  if (key === "Home") return 0;
  if (key === "End") return rows.length - 1;
  if (key !== "ArrowLeft") return null;
  for (let i = at - 1; i >= 0; i -= 1) if ((rows[i]?.level ?? 0) < level) return i;
  return null;
}
