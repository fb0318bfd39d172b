/** Values that say when they change: a component that read one is drawn again, and an effect runs again. */
import { Component, options, type VNode } from "preact";
import { useMemo } from "preact/hooks";

/** Whoever is reading now. */
let current: Reader | null = null;

/** Something that is told when a value changes that it read in its last run. */
class Reader {
  readonly changed: () => void;
  /** Of each signal that it read, the readers. */
  readonly sources = new Set<Set<Reader>>();

  constructor(changed: () => void) {
    this.changed = changed;
  }

  run<T>(work: () => T): T {
    this.stop();
    return readAs(this, work);
  }

  stop(): void {
    for (const readers of this.sources) readers.delete(this);
    this.sources.clear();
  }
}

function readAs<T>(reader: Reader, work: () => T): T {
  const outer = current;
  current = reader;
  try {
    return work();
  } finally {
    current = outer;
  }
}

export class Signal<T> {
  readonly #readers = new Set<Reader>();
  #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    if (current) {
      this.#readers.add(current);
      current.sources.add(this.#readers);
    }
    return this.#value;
  }

  set value(next: T) {
    if (next === this.#value) return;
    this.#value = next;
    // One that is told can stop another, or read again.
    for (const reader of [...this.#readers]) if (this.#readers.has(reader)) reader.changed();
  }

  /** The value, for whoever is not told of a change. */
  peek(): T {
    return this.#value;
  }
}

export function signal<T>(value: T): Signal<T> {
  return new Signal(value);
}

/** A signal of this component alone. */
export function useSignal<T>(value: T): Signal<T> {
  return useMemo(() => new Signal(value), []);
}

/** What is made of a signal's value, which is made again after a change alone. */
export function derived<S, T>(source: Signal<S>, derive: (value: S) => T): { readonly value: T } {
  let known: { from: S; value: T } | null = null;
  return {
    get value() {
      const from = source.value;
      if (known?.from !== from) known = { from, value: derive(from) };
      return known.value;
    },
  };
}

/** Runs at once, and again whenever a signal changes that the last run read. @returns what ends it */
export function effect(work: () => void): () => void {
  let isRunning = false;
  let isDue = false;
  const run = () => {
    isDue = true;
    // A run that changes what it reads is followed by another one.
    if (isRunning) return;
    isRunning = true;
    try {
      while (isDue) {
        isDue = false;
        reader.run(work);
      }
    } finally {
      isRunning = false;
    }
  };
  const reader = new Reader(run);
  run();
  return () => reader.stop();
}

const components = new WeakMap<Component, Reader>();

/** Preact's own name for the option that is called before a component is drawn, and for a node's component. */
const hooks = options as typeof options & { __r?: (vnode: VNode) => void };
const componentOf = (vnode: VNode) => (vnode as VNode & { __c: Component | null }).__c;

const { __r: beforeRender } = hooks;
const beforeUnmount = hooks.unmount?.bind(hooks);

hooks.__r = (vnode) => {
  beforeRender?.(vnode);
  const component = componentOf(vnode);
  if (!component || components.has(component)) return;
  const reader = new Reader(() => component.forceUpdate());
  const render = component.render.bind(component);
  component.render = (...given) => reader.run(() => render(...given));
  components.set(component, reader);
};

hooks.unmount = (vnode) => {
  beforeUnmount?.(vnode);
  const component = componentOf(vnode);
  if (component) components.get(component)?.stop();
};

/** A component that reads signals is not drawn again with its parent if its properties are the same. */
Component.prototype.shouldComponentUpdate = function shouldUpdate(next: object): boolean {
  const now = this.props as Record<string, unknown>;
  const isReader = (components.get(this)?.sources.size ?? 0) > 0;
  const names = Object.keys(now);
  const isSame = (pairs: [string, unknown][]) =>
    pairs.length === names.length && pairs.every(([name, value]) => name in now && now[name] === value);
  return !(isReader && isSame(Object.entries(next)));
};
