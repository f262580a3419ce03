// What the server answers. The server's documentation describes each field.

export interface FileEntry {
  name: string;
  path: string;
  kind: "folder" | "file";
  size: number | null;
  modified: number | string | null;
  format: string | null;
}

export interface Files {
  root: string;
  entries: FileEntry[];
  single: boolean;
}

export type Kind = "group" | "array" | "table" | "expression" | "link" | "type" | "frame" | "damaged";

export interface Child {
  name: string;
  path: string;
  kind: Kind;
  dtype?: string | null;
  shape?: number[] | null;
  nbytes?: number | null;
  stored?: number | null;
  rows?: number | null;
  columns?: string[] | null;
  to?: string;
}

export interface Tree {
  path: string;
  kind: Kind;
  children: Child[];
}

export interface Attribute {
  name: string;
  type?: string | null;
  value: unknown;
}

export interface Info {
  path: string;
  kind: Kind;
  dtype?: string | null;
  shape?: number[] | null;
  chunks?: number[] | null;
  blocks?: number[] | null;
  codec?: string | null;
  filters?: unknown;
  nbytes?: number | null;
  stored?: number | null;
  ratio?: number | null;
  attributes: Attribute[];
  fill_value?: unknown;
  scale_factor?: number | null;
  add_offset?: number | null;
  units?: string | null;
  dimensions?: (string | null)[] | null;
  coordinates?: (string | null)[] | null;
  image?: unknown;
  /** Of a table: how many rows, which columns, and whether it stores columns or rows. */
  rows?: number | null;
  columns?: string[] | null;
  layout?: string | null;
  expression?: string | null;
}

export interface Histogram {
  edges: number[];
  counts: number[];
  /** Integers beyond 2^53 come as text. */
  min: number | string | null;
  max: number | string | null;
  mean: number | null;
  std: number | null;
  count: number;
  nans?: number;
  fills?: number;
}

export interface Column {
  name: string;
  dtype: string;
  kind: string;
  indexed?: boolean;
  nbytes?: number | null;
  stored?: number | null;
}

export interface Schema {
  rows: number;
  columns: Column[];
}

export interface Rows {
  start: number;
  total: number;
  columns: string[];
  values: Record<string, unknown[]>;
  rows?: number[];
}

export interface ColumnStatistics {
  count: number;
  nulls?: number;
  distinct?: number | null;
  min?: unknown;
  max?: unknown;
  mean?: number | null;
  std?: number | null;
  histogram?: { edges: number[]; counts: number[] } | null;
  top?: [unknown, number][] | null;
}

export interface StoredChunk {
  index: number | number[];
  offset?: number | null;
  stored: number | null;
  codec?: string | null;
  nbytes: number;
  special?: string | null;
}

export interface Touched {
  chunks: number;
  blocks?: number | null;
  bytes?: number | null;
  values?: number | null;
}

export interface Storage {
  codec?: string | null;
  filters?: unknown;
  chunk_shape: number[];
  block_shape?: number[] | null;
  grid: number[];
  nbytes: number;
  stored: number;
  chunks: StoredChunk[];
  total: number;
  touched?: Touched;
}

export interface Version {
  coquina: string;
  writable: boolean;
  single: string | null;
}

/** An object in a file; `path` is "/" for the file's own root. */
export interface Place {
  file: string;
  path: string;
}
