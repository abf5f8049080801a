// What the console takes of Preact's signals.
export interface Signal<T> { value: T; peek(): T }
export function signal<T>(first: T): Signal<T>;
export function computed<T>(make: () => T): {readonly value: T};
export function effect(run: () => unknown): () => void;
export function batch<T>(run: () => T): T;
