/** A style sheet that a script imports is a text, minified by the build. */
declare module "*.css" {
  const text: string;
  export default text;
}
