// What each axis does: drawn along x or y, or at one index that a slider moves.

import { useEffect, useState } from "react";
import * as format from "../format";
import { type AxisRoles, type Range, withRole } from "./selection";

interface AxisControlsProps {
  shape: number[];
  names: string[];
  roles: AxisRoles;
  x: Range | null;
  y: Range | null;
  onRoles: (roles: AxisRoles) => void;
  onRange: (role: "x" | "y", range: Range) => void;
}

export function AxisControls({ shape, names, roles, x, y, onRoles, onRange }: AxisControlsProps) {
  const others = shape.map((_, axis) => axis).filter((axis) => ![roles.x, roles.y, roles.channel].includes(axis));
  const setIndex = (axis: number, index: number) =>
    onRoles({ ...roles, indices: roles.indices.map((old, i) => (i === axis ? index : old)) });
  return (
    <fieldset className="axes">
      <legend className="hidden">Axes</legend>
      {roles.y !== null && y && (
        <Drawn role="y" {...{ shape, names, roles, onRoles }} range={y} onRange={(range) => onRange("y", range)} />
      )}
      {roles.x !== null && x && (
        <Drawn role="x" {...{ shape, names, roles, onRoles }} range={x} onRange={(range) => onRange("x", range)} />
      )}
      {others.map((axis) => (
        <IndexSlider
          key={axis}
          name={names[axis] ?? ""}
          length={shape[axis] ?? 1}
          value={roles.indices[axis] ?? 0}
          onValue={(index) => setIndex(axis, index)}
        />
      ))}
    </fieldset>
  );
}

interface DrawnProps {
  role: "x" | "y";
  shape: number[];
  names: string[];
  roles: AxisRoles;
  range: Range;
  onRoles: (roles: AxisRoles) => void;
  onRange: (range: Range) => void;
}

function Drawn({ role, shape, names, roles, range, onRoles, onRange }: DrawnProps) {
  const axis = roles[role] ?? 0;
  const length = shape[axis] ?? 0;
  const set = (start: number, stop: number) => {
    const from = Math.min(Math.max(0, start), length - 1);
    onRange({ start: from, stop: Math.min(Math.max(stop, from + 1), length), step: 1 });
  };
  return (
    <div className="axis">
      <label>
        <em>{role}</em>
        <select
          aria-label={`Axis along ${role}`}
          value={axis}
          onChange={(event) => onRoles(withRole(roles, role, Number(event.target.value)))}
        >
          {shape.map((_, i) => i !== roles.channel && <option key={i} value={i}>{names[i]}</option>)}
        </select>
      </label>
      <Typed label={`First index along ${role}`} value={range.start} most={length - 1} onValue={(start) => set(start, range.stop)} />
      <span aria-hidden="true">:</span>
      <Typed label={`Index behind the last along ${role}`} value={range.stop} most={length} onValue={(stop) => set(range.start, stop)} />
      {(range.start !== 0 || range.stop !== length) && (
        <button type="button" className="plain" onClick={() => set(0, length)} title={`Show all ${format.whole(length)}`}>
          all
        </button>
      )}
    </div>
  );
}

interface TypedProps {
  label: string;
  value: number;
  most: number;
  onValue: (value: number) => void;
}

/** A number that counts once it is typed: at Enter, or when the box is left. */
function Typed({ label, value, most, onValue }: TypedProps) {
  const [text, setText] = useState(String(value));
  useEffect(() => setText(String(value)), [value]);
  const take = () => {
    const typed = Math.round(Number(text));
    if (text.trim() === "" || !Number.isFinite(typed)) setText(String(value));
    else if (typed !== value) onValue(Math.min(Math.max(0, typed), most));
  };
  return (
    <input
      type="text"
      inputMode="numeric"
      size={Math.max(3, String(most).length)}
      aria-label={label}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={take}
      onKeyDown={(event) => event.key === "Enter" && take()}
    />
  );
}

interface IndexSliderProps {
  name: string;
  length: number;
  value: number;
  onValue: (value: number) => void;
}

function IndexSlider({ name, length, value, onValue }: IndexSliderProps) {
  return (
    <div className="axis slider">
      <label htmlFor={`slider-${name}`}>{name}</label>
      <input
        id={`slider-${name}`}
        type="range"
        min={0}
        max={Math.max(0, length - 1)}
        value={value}
        onChange={(event) => onValue(Number(event.target.value))}
      />
      <Typed label={`Index along ${name}`} value={value} most={length - 1} onValue={onValue} />
      <span className="quiet">/ {format.whole(length)}</span>
    </div>
  );
}
