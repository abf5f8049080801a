// What the console takes of Preact's hooks.
type Change<S> = S | ((before: S) => S);
export function useState<S>(first: S | (() => S)): [S, (to: Change<S>) => void];
export function useEffect(run: () => void | (() => void), on?: readonly unknown[]): void;
export function useLayoutEffect(run: () => void | (() => void), on?: readonly unknown[]): void;
export function useMemo<T>(make: () => T, on: readonly unknown[]): T;
export function useRef<T>(first: T | null): {current: T};
export function useId(): string;
