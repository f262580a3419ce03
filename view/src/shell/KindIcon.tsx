// A small picture for each kind of object.

import type { Node } from "./nodes";

const PATHS: Record<Node["kind"], string> = {
  folder: "M1.5 4.5v8h13v-7h-7l-1.5-2h-4.5z",
  file: "M3.5 1.5h6l3 3v10h-9z M9.5 1.5v3h3",
  group: "M1.5 4.5v8h13v-7h-7l-1.5-2h-4.5z",
  array: "M2.5 2.5h11v11h-11z M6.2 2.5v11 M9.8 2.5v11 M2.5 6.2h11 M2.5 9.8h11",
  table: "M1.5 3.5h13v9h-13z M1.5 6.5h13 M6 3.5v9",
  expression: "M10.5 3c-2-.8-2.6.6-2.9 2.5l-1 5.500c-.3 1.600-.9 2.600-2.600 2 M4.800 7h5",
  type: "M3 3.5h10 M8 3.5v9.5",
  frame: "M2.5 2.5h11v11h-11z",
  damaged: "M8 2l6.500 11.500h-13z M8 6.500v3.500 M8 11.500v.6",
  link: "M7 9l4.500-4.500 M8 4.500h3.500v3.500 M6 5h-2.500v7.500h7.500v-2.500",
};

export function KindIcon({ kind }: { kind: Node["kind"] }) {
  return (
    <svg className={`icon ${kind}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[kind]} />
    </svg>
  );
}
