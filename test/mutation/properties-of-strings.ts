/** What Babel knows of a place in a module, as far as it is read here. */
interface Place {
  isRegExpLiteral(): boolean;
  node: { flags?: string };
}

/**
 * Stryker would negate a property of strings, such as `\p{RGI_Emoji}`. That has no opposite, and the module could not be
 * loaded. A plugin as in https://stryker-mutator.io/docs/stryker-js/disable-mutants/#using-an-ignore-plugin
 */
export const strykerPlugins = [
  {
    kind: "Ignore",
    name: "properties-of-strings",
    value: {
      shouldIgnore: (place: Place) =>
        place.isRegExpLiteral() && place.node.flags?.includes("v")
          ? "A property of strings has no opposite"
          : undefined,
    },
  },
];
