// What the console takes of Preact.
export interface VNode { type: unknown; props: object; key: unknown }
export type Component<P> = (props: P) => unknown;
export function h(type: string | Component<any>, props: object | null, ...children: unknown[]): VNode;
export function render(made: unknown, into: Element): void;
export const Fragment: Component<any>;
