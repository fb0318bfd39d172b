import { type Component, options, type VNode } from "preact";
import { useState } from "preact/hooks";

/** A value that the page shows: a component that reads it while it is drawn is drawn again if it changes. */
export class Signal<T> {
  #value: T;
  readonly #readers = new Set<Component>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    if (drawn) {
      this.#readers.add(drawn);
      readBy.get(drawn)?.add(this.#readers);
    }
    return this.#value;
  }

  set value(value: T) {
    if (value === this.#value) return;
    this.#value = value;
    for (const reader of this.#readers) reader.setState({});
  }
}

/** A signal of one component. */
export function useSignal<T>(first: T): Signal<T> {
  return useState(() => new Signal(first))[0];
}

/** The component that is being drawn. */
let drawn: Component | undefined;

/** The readers of each signal that a component read, so that it can leave them. */
const readBy = new WeakMap<Component, Set<Set<Component>>>();

/** Preact's hooks around a component, by the names that its packages share. */
interface Hooks {
  /** Before it is drawn. */
  __r?: (vnode: VNode & { __c: Component }) => void;
  diffed?: (vnode: VNode) => void;
  unmount?: (vnode: VNode & { __c?: Component }) => void;
}
const hooks = options as Hooks;
const { __r: draw, diffed, unmount } = hooks;

hooks.__r = (vnode) => {
  draw?.(vnode);
  drawn = vnode.__c;
  leave(drawn);
  readBy.set(drawn, new Set());
};
hooks.diffed = (vnode) => {
  drawn = undefined;
  diffed?.(vnode);
};
hooks.unmount = (vnode) => {
  if (vnode.__c) leave(vnode.__c);
  unmount?.(vnode);
};

function leave(component: Component): void {
  for (const readers of readBy.get(component) ?? []) readers.delete(component);
}
