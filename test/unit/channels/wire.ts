type Leaf = string | number | boolean | undefined;

/** The JSON of a class of `whatsapp-api-js`: its fields without methods and getters. */
export type Json<T> = T extends Leaf
  ? T
  : { -readonly [Key in keyof T as Key extends `_${string}` | "toJSON" ? never : Key]: Json<T[Key]> };
