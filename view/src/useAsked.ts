// An answer of the server as the state of a component.

import { type DependencyList, useEffect, useState } from "react";

export interface Asked<T> {
  /** The last answer; it stays until the next one, so that the page does not flicker. */
  value: T | undefined;
  error: Error | null;
  isLoading: boolean;
}

interface Answer<T> {
  value: T | undefined;
  error: Error | null;
  /** What the question depended on. */
  dependencies: DependencyList;
}

const isSame = (a: DependencyList, b: DependencyList): boolean => a.every((one, i) => Object.is(one, b[i]));

/**
 * Ask again whenever `dependencies` change, and give up what was asked before. `null` asks nothing.
 *
 * An answer is loading from the first drawing with other dependencies on, so that no old answer passes for the new one.
 */
export function useAsked<T>(ask: ((signal: AbortSignal) => Promise<T>) | null, dependencies: DependencyList): Asked<T> {
  const [answer, setAnswer] = useState<Answer<T> | null>(null);
  useEffect(() => {
    if (!ask) {
      setAnswer(null);
      return undefined;
    }
    const controller = new AbortController();
    ask(controller.signal).then(
      (value) => controller.signal.aborted || setAnswer({ value, error: null, dependencies }),
      (error) => controller.signal.aborted || setAnswer({ value: undefined, error, dependencies }),
    );
    return () => controller.abort();
  }, dependencies);
  if (!ask || !answer) return { value: undefined, error: null, isLoading: ask !== null };
  return { value: answer.value, error: answer.error, isLoading: !isSame(answer.dependencies, dependencies) };
}

/** Return `value` once it has stayed the same for `ms`. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
