import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = new URL("../..", import.meta.url).pathname;
const FOLDERS = ["src", "test"];
const FILES = ["README.md", "wrangler.toml", "package.json", ".dev.vars.example", ".dev.vars.optional.example"];
const READ = /\.(?:ts|tsx|js|mjs|md|css|html|toml|sql)$/;
/** What others wrote, what is not English, and this list. */
const LEFT_OUT =
  /(?:^|\/)node_modules\/|^src\/openapi\/client\/types\.ts$|^src\/web\/visitor\/locales\/(?!en\.)|^test\/words\//;

/** Words that give a text away: British spelling, and phrases for which there is a plainer one. */
const WORDS: Record<string, RegExp> = {
  "canceled, canceling": /cancell(?:ed|ing|able)/i,
  email: /\be-mail/i,
  "can't": /\bcannot\b/i,
  "no longer, not … now": /\bany ?more\b/i,
  "for this long, or how long in numbers": /\bfor so long\b/i,
  "anyway, still": /\ball the same\b/i,
  "permanently, forever": /\bfor good\b/i,
  "license, defense, offense": /\b(?:licence|defence|offence)s?\b/i,
  "color, behavior, favor, honor, neighbor": /(?:colou|behaviou|favou|honou|neighbou)r/i,
  "-ize":
    /\b(?:organ|recogn|author|initial|serial|normal|optim|summar|minim|maxim|synchron|custom|real|general)is(?:e|ed|es|ing|ation)s?\b/i,
  analyze: /\banalys(?:e|ed|ing)\b/i,
  center: /\bcentres?\b/i,
  "one l: labeled, modeled, signaled, traveled": /\b(?:labell|modell|signall|travell|totall|channell)(?:ed|ing)\b/i,
  gray: /\bgrey\b/i,
  "judgment, acknowledgment": /(?:judge|acknowledge)ment/i,
  "forever, halfway, lookup": /\b(?:for ever|half-way|look-ups?)\b/i,
  "toward, afterward": /\b(?:towards|afterwards)\b/i,
  "while, among, learned": /\b(?:whilst|amongst|learnt|spelt)\b/i,
  checksum: /\bcheck letters?\b/i,
  "has reached its limit": /\bmay have no more\b|\bas many \w+ as (?:its|their) `?limits?\b/i,
  "to continue, pass …": /\bwalk with (?:before|after|`)/i,
  "is not a cursor, is not a message in this chat": /\bis no (?:cursor|message of|place in)\b/i,
  "don't try after this time": /\bno attempt to deliver\b/i,
  "anyway, too late to undo": /\bon its way already\b/i,
  "no one is waiting": /\bnobody waits\b/i,
  "this many, the maximum number of, at most every": /\bso (?:often|many|long)\b(?! (?:as|that)\b)/i,
  "uploaded file, outbound message, the service's own": /\bof ours\b|\bour files?\b/i,
  "automatically, alone, on its own": /\bby (?:itself|themselves)\b/i,
  "longer each time": /\bever longer\b/i,
  "news is, much news": /\bnews (?:are|were|have)\b|\bmany news\b/i,
  "previous page": /\bthe page before(?: it)?(?=[.:;])/i,
  "waiting events, its progress": /\bwhat waits of\b|\bhow far (?:that|a replay) is\b/i,
  "who can send files": /\bwhose files (?:the|a|are)\b/i,
  "cuts off access": /\bstops? somebody\b/i,
  "is not valid, is not one": /(?<!\bthere )\bis none\b(?! of\b)/i,
  "of one writer": /\bone and the same\b/i,
  "doesn't support this": /\b(?:has|have|had) no such thing\b/i,
  "without success, for nothing": /\bin vain\b/i,
  "a few seconds": /\bsome seconds\b/i,
  "no longer": /\bno more(?=\s*(?:[.,:;)]|\*\/|$))/i,
};

/** The same in the service alone: in a test, a person can be told something. */
const WORDS_OF_SOURCES: Record<string, RegExp> = {
  "reported, notified": /\b(?:is|are|was|were|be|been|being|not) told\b(?! apart\b)/i,
  "is not a, does not count": /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|one\b|more\b|less\b)/i,
  "reports, says": /\btells? (?:of|about|an event)\b/i,
  again: /\banew\b/i,
  "the maximum length of, or what else it is": /\/\*\* Of (?:an?|the|all)\b/,
  "anyone who": /\b(?:so can|for each) who\b|(?:[.] |\* |\/\/ )Who (?:has|knows|changes|does not)\b/,
  "is deleted":
    /\b(?:oldest|files?|chats?|notes?|rows?|bytes|ones?|it|each) goe?s?(?= after\b| with (?:its?|them|the last)\b| at\b| \|)/i,
};

function readTexts(): [string, string][] {
  const found = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`),
  );
  const paths = [...FILES, ...found.filter((path) => READ.test(path) && !LEFT_OUT.test(path))];
  return paths.map((path) => [path, readFileSync(join(root, path), "utf8")]);
}

/** Each line with one of the words, and what to say in its place. */
function linesWith(words: Record<string, RegExp>, texts: [string, string][]): string[] {
  return Object.entries(words).flatMap(([better, word]) =>
    texts.flatMap(([path, text]) =>
      text
        .split("\n")
        .flatMap((line, at) =>
          word.test(line) ? [`${path}:${at + 1} say ${better}: ${line.trim().slice(0, 120)}`] : [],
        ),
    ),
  );
}

test("texts use the plain word, in American spelling", () => {
  const texts = readTexts();
  const sources = texts.filter(([path]) => !path.startsWith("test/"));
  expect([...linesWith(WORDS, texts), ...linesWith(WORDS_OF_SOURCES, sources)]).toEqual([]);
});
