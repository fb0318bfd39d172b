import { type ComponentChildren, h, render } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { expect, onTestFinished, test } from "vitest";
import { derived, effect, signal, useSignal } from "../../src/web/console/signals.ts";

/** Draws components that draw no element, so they need no document. @returns what draws something else in their place */
function mount(drawn: ComponentChildren): (next: ComponentChildren) => void {
  const root = { nodeType: 1, childNodes: [], firstChild: null, namespaceURI: "" } as unknown as Element;
  render(drawn, root);
  onTestFinished(() => render(null, root));
  return (next) => render(next, root);
}

/** Until Preact has drawn what is due. */
const drawn = () => new Promise((resolve) => setTimeout(resolve, 0));

test("an effect runs at once, and again after each change of what it read", () => {
  const [one, other] = [signal(1), signal(10)];
  const seen: number[] = [];
  const end = effect(() => void seen.push(one.value + other.peek()));
  other.value = 20;
  one.value = 2;
  one.value = 2;
  expect(seen).toEqual([11, 22]);
  end();
  one.value = 3;
  expect(seen).toEqual([11, 22]);
});

test("an effect follows only what its last run read", () => {
  const [isOn, count] = [signal(true), signal(0)];
  let runs = 0;
  effect(() => {
    runs++;
    if (isOn.value) void count.value;
  });
  count.value++;
  isOn.value = false;
  count.value++;
  expect(runs).toBe(3);
});

test("an effect that changes what it reads ends, and then runs until nothing changes", () => {
  const left = signal(2);
  const seen: string[] = [];
  effect(() => {
    const now = left.value;
    seen.push(`begins ${now}`);
    if (now > 0) left.value--;
    seen.push(`ends ${now}`);
  });
  expect(seen).toEqual(["begins 2", "ends 2", "begins 1", "ends 1", "begins 0", "ends 0"]);
});

test("an effect that fails runs again after the next change", () => {
  const count = signal(0);
  const seen: number[] = [];
  effect(() => {
    if (count.value === 1) throw new Error("no");
    seen.push(count.value);
  });
  expect(() => count.value++).toThrow("no");
  count.value++;
  expect(seen).toEqual([0, 2]);
});

test("an effect that another one ends does not run for the same change", () => {
  const count = signal(0);
  let runs = 0;
  let end = () => {};
  effect(() => {
    if (count.value > 0) end();
  });
  end = effect(() => {
    void count.value;
    runs++;
  });
  count.value++;
  expect(runs).toBe(1);
});

test("what is read in an effect inside an effect belongs to the inner one", () => {
  const [outer, inner] = [signal(0), signal(0)];
  let runs = 0;
  effect(() => {
    runs++;
    const end = effect(() => void inner.value);
    void outer.value;
    end();
  });
  inner.value++;
  expect(runs).toBe(1);
  outer.value++;
  expect(runs).toBe(2);
});

test("a derived value is made once for each value of its source, and its readers are told", () => {
  const words = signal(["a"]);
  let made = 0;
  const length = derived(words, (list) => {
    made++;
    return list.length;
  });
  const seen: number[] = [];
  effect(() => void seen.push(length.value));
  expect(length.value).toBe(1);
  words.value = ["a", "b"];
  expect([length.value, length.value]).toEqual([2, 2]);
  expect([seen, made]).toEqual([[1, 2], 2]);
});

test("a component is drawn again after a change of what it read, once for several changes", async () => {
  const [first, last] = [signal("Ann"), signal("Lee")];
  const seen: string[] = [];
  mount(h(() => void seen.push(`${first.value} ${last.value}`), null));
  first.value = "Bo";
  last.value = "Ek";
  await drawn();
  expect(seen).toEqual(["Ann Lee", "Bo Ek"]);
});

test("a change while a component is drawn or its effects run draws it again", async () => {
  const seen: number[] = [];
  function Counting() {
    const count = useSignal(0);
    seen.push(count.value);
    if (count.value === 0) count.value = 1;
    useLayoutEffect(() => {
      if (count.value === 1) count.value = 2;
    });
    return null;
  }
  mount(h(Counting, null));
  await drawn();
  expect(seen.at(-1)).toBe(2);
});

test("a component is drawn alone: neither its parent nor its child reads what it read", async () => {
  const count = signal(0);
  const draws = { parent: 0, reader: 0, child: 0 };
  const Child = () => void draws.child++;
  const child = h(Child, null);
  const Reader = () => {
    draws.reader++;
    void count.value;
    return child;
  };
  const Parent = () => {
    draws.parent++;
    return h(Reader, null);
  };
  mount(h(Parent, null));
  count.value++;
  await drawn();
  expect(draws).toEqual({ parent: 1, reader: 2, child: 1 });
});

test("of a parent's components, one that reads signals is drawn again only with other properties", async () => {
  const count = signal(0);
  const seen: string[] = [];
  const Reader = ({ of }: { of?: string }) => void seen.push(`reader ${of} ${count.value}`);
  const Plain = ({ of }: { of?: string }) => void seen.push(`plain ${of}`);
  const list = (of?: string) => [h(Reader, of === undefined ? {} : { of }), h(Plain, of === undefined ? {} : { of })];
  const draw = mount(list("a"));
  draw(list("a"));
  draw(list("b"));
  draw(list());
  expect(seen).toEqual([
    "reader a 0",
    "plain a",
    "plain a",
    "reader b 0",
    "plain b",
    "reader undefined 0",
    "plain undefined",
  ]);
  count.value++;
  await drawn();
  expect(seen.slice(7)).toEqual(["reader undefined 1"]);
});

test("a component that is gone follows nothing", async () => {
  const count = signal(0);
  let draws = 0;
  const Reader = () => {
    draws++;
    void count.value;
    return null;
  };
  mount(h(Reader, null))(null);
  count.value++;
  await drawn();
  expect(draws).toBe(1);
});
