// The box for a condition, and where in it an error is.

import { useEffect, useState } from "react";
import { ServerError } from "../api";

interface WhereProps {
  where: string;
  onWhere: (where: string) => void;
  error: unknown;
}

export function Where({ where, onWhere, error }: WhereProps) {
  const [text, setText] = useState(where);
  useEffect(() => setText(where), [where]);
  const isWrong = where !== "" && error instanceof ServerError && error.status === 400;
  return (
    <form
      className="where"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onWhere(text.trim());
      }}
    >
      <label htmlFor="where">where</label>
      <input
        id="where"
        type="text"
        value={text}
        spellCheck={false}
        autoComplete="off"
        placeholder="price > 10 and name == 'ABC'"
        aria-invalid={isWrong}
        aria-describedby={isWrong ? "where-error" : undefined}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit">Find</button>
      {where !== "" && (
        <button type="button" onClick={() => onWhere("")}>
          All rows
        </button>
      )}
      {isWrong && (
        <div id="where-error" className="where-error" role="alert">
          {error.caret !== null && <pre>{`${where}\n${" ".repeat(error.caret)}^`}</pre>}
          <p>{error.message}</p>
        </div>
      )}
    </form>
  );
}
