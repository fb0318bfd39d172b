import { WORDS } from "../../../model/received.ts";

/** The words that networks report beside the text count too. Most messages have none. */
const WORD_PATHS = WORDS.map((field) => `'$.${field}'`).join(", ");

/** An expression of SQL on `messages`: what a search compares of a message, before it is folded. */
export const SEARCHED = `doc ->> '$.text' || case when json_extract(doc, ${WORD_PATHS}) <> '[${WORDS.map(() => "null").join()}]' then
  (select coalesce(char(10) || group_concat(atom, char(10)), '') from json_tree(json_extract(doc, ${WORD_PATHS}))
    where type in ('text', 'integer', 'real')) else '' end`;
