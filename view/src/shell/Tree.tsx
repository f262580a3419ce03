// The tree of folders, files and what is in them.

import { useCallback, useEffect, useRef, useState } from "react";
import type { KeyboardEvent } from "react";
import { json } from "../api";
import * as format from "../format";
import type { Files, Place, Tree as Objects } from "../types";
import { KindIcon } from "./KindIcon";
import { type Node, type Row, idOf, movedBy, ofChild, ofEntry, rowsOf } from "./nodes";

interface TreeProps {
  files: Files;
  selected: Place | null;
  onSelect: (place: Place) => void;
}

async function childrenOf(node: Node): Promise<Node[]> {
  if (node.folder !== null) return (await json<Files>("files", { path: node.folder })).entries.map(ofEntry);
  if (!node.place) return [];
  const file = node.place.file;
  return (await json<Objects>("tree", { ...node.place })).children.map((child) => ofChild(file, child));
}

/** Return the nodes above an object, by their identities: folders, the file, groups. */
function above(place: Place): string[] {
  const folders = place.file.split("/").slice(0, -1).map((_, i, all) => `folder|${all.slice(0, i + 1).join("/")}`);
  const names = place.path.split("/").filter(Boolean);
  const groups = names.map((_, i) => idOf({ file: place.file, path: i ? `/${names.slice(0, i).join("/")}` : "/" }));
  return [...folders, ...groups];
}

export function Tree({ files, selected, onSelect }: TreeProps) {
  const roots = files.entries.map(ofEntry);
  const [children, setChildren] = useState(new Map<string, Node[]>());
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const asked = useRef(new Set<string>());
  const rows = rowsOf(roots, children, open);

  const expand = useCallback(async (node: Node) => {
    setOpen((before) => new Set(before).add(node.id));
    if (asked.current.has(node.id)) return;
    asked.current.add(node.id);
    try {
      const found = await childrenOf(node);
      setChildren((before) => new Map(before).set(node.id, found));
      setProblem(null);
    } catch (error) {
      asked.current.delete(node.id);
      setProblem(`${node.name}: ${(error as Error).message}`);
    }
  }, []);

  const collapse = (node: Node) =>
    setOpen((before) => {
      const after = new Set(before);
      after.delete(node.id);
      return after;
    });

  useEffect(() => {
    const first = roots[0];
    if (files.single && first) void expand(first);
  }, [files]);

  // What is selected is shown: groups above it open one after the other, as each brings the next.
  const wanted = useRef(new Set<string>());
  useEffect(() => {
    wanted.current = new Set(selected ? [...above(selected), idOf(selected)] : []);
  }, [selected?.file, selected?.path]);
  useEffect(() => {
    for (const { node } of rows) {
      if (!wanted.current.has(node.id)) continue;
      wanted.current.delete(node.id);
      if (node.isBranch && !open.has(node.id)) void expand(node);
    }
  }, [rows, expand, open]);

  const choose = (row: Row) => {
    setFocused(row.node.id);
    if (row.node.place) onSelect(row.node.place);
    if (!row.node.isBranch) return;
    if (row.isOpen && (row.node.place === null || idOf(row.node.place) === (selected && idOf(selected)))) collapse(row.node);
    else void expand(row.node);
  };

  const current = focused ?? (selected ? idOf(selected) : rows[0]?.node.id);
  const at = Math.max(0, rows.findIndex((row) => row.node.id === current));

  const focusRow = (index: number) => {
    const id = rows[index]?.node.id;
    if (id === undefined) return;
    setFocused(id);
    list.current?.querySelectorAll<HTMLElement>("[role=treeitem]")[index]?.focus();
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[at];
    if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
    const { node, isOpen } = row;
    if (event.key === "Enter" || event.key === " ") choose(row);
    else if (event.key === "ArrowRight" && node.isBranch && !isOpen) void expand(node);
    else if (event.key === "ArrowRight" && isOpen) focusRow(at + 1);
    else if (event.key === "ArrowLeft" && isOpen) collapse(node);
    else {
      const to = movedBy(event.key, rows, at);
      if (to === null) return;
      focusRow(to);
    }
    event.preventDefault();
  };

  return (
    <>
      <ul className="tree" role="tree" aria-label={files.root} ref={list} onKeyDown={onKeyDown}>
        {rows.map((row, i) => (
          <TreeRow
            key={row.node.id}
            row={row}
            isFocusable={i === at}
            isSelected={selected !== null && row.node.id === idOf(selected)}
            onChoose={() => choose(row)}
          />
        ))}
      </ul>
      {rows.length === 0 && <p className="empty">No files here that coquina reads.</p>}
      {problem && <p className="problem small" role="alert">{problem}</p>}
    </>
  );
}

interface TreeRowProps {
  row: Row;
  isFocusable: boolean;
  isSelected: boolean;
  onChoose: () => void;
}

function TreeRow({ row, isFocusable, isSelected, onChoose }: TreeRowProps) {
  const { node, level, position, siblings, isOpen } = row;
  const packed = format.ratio(node.nbytes, node.stored);
  const sizes = [format.bytes(node.stored ?? node.nbytes), packed].filter(Boolean).join(" · ");
  return (
    <li
      role="treeitem"
      aria-level={level}
      aria-posinset={position}
      aria-setsize={siblings}
      aria-expanded={node.isBranch ? isOpen : undefined}
      aria-selected={isSelected}
      tabIndex={isFocusable ? 0 : -1}
      style={{ paddingLeft: `${0.35 + (level - 1) * 0.95}rem` }}
      onClick={onChoose}
      title={`${node.name}${node.note ? `, ${node.note}` : ""}${sizes ? `, ${sizes}` : ""}`}
    >
      <span className={node.isBranch ? (isOpen ? "twisty open" : "twisty") : "twisty none"} aria-hidden="true" />
      <KindIcon kind={node.kind} />
      <span className="name">{node.name}</span>
      <span className="note">{node.note}</span>
      <span className="sizes">{sizes}</span>
    </li>
  );
}
