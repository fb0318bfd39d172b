/** Words of a query that say nothing about its subject. */
const FILLERS = new Set(
  "a all an and any are at be by can do does for from get give has have how i if in is it its me my not of on one or our out should so that the their there this to too use using via want was we what when where which who why will with without you your".split(
    " ",
  ),
);

/** What people type, and how the guides say it. Each line: the words of a query, then words of the guides. */
const OTHER_WORDS = `
paginate pagination paging offset next : page cursor
cursor : page
attachment attach image photo picture pdf document video audio voice gif binary : file media
file upload : file
download : media
429 throttle throttling many requests : rate limit
401 unauthorized auth authorization authenticate bearer token login credential : authentication
apikey credential : key
403 forbidden role scope acl : permission
422 duplicate twice dedupe deduplicate exactly double : idempotency retry safely
500 503 fail failure exception : error troubleshoot
login signin logout password : sign
sso saml okta oauth oidc : access cloudflare
view viewer : readonly
button keyboard menu option survey quick : choice
emoji like thumbs : react
location map gps coordinates : place
vcard card : contact
later delay delayed cron timer postpone future schedule : schedule later
undo unsend recall retract withdraw cancel : cancel back
embed snippet script iframe website widget livechat : site put
color theme logo style brand branding : look
language translate translation locale i18n : text language speak
realtime websocket sse push subscribe subscription : live stream
callback hook notify endpoint : webhook
hmac signature signed validate : verify
ngrok tunnel local localhost development dev : machine
price pricing cost money invoice : bill
invite onboard : sign
unanswered : wait answer
agent staff employee colleague team teammate : member
assign assignee owner : assign whose
conversation thread dialog ticket : chat
customer recipient user visitor client lead : contact visitor
sdk library package npm node javascript typescript : client
terminal cli shell bash : command line
setup install begin tutorial started : start connect set
tenant company account workspace : organization
gdpr privacy forget erase remove purge delete : delete redact retention erase
redact : redact
backup recover recovery restore : restore
expire ttl retention keep history old : retention delete
receipt delivered seen sent status : status
failed undelivered bounce : failed
pending stuck queue waiting blocked : wait
phone msisdn sms : number address
custom hostname cname dns url : domain
csp : contentsecuritypolicy
env environment variable variables config setting : configuration
log debug monitor monitoring metric observability alert : log statistics
analytics report dashboard count : statistics
slow latency fast benchmark throughput : speed
upgrade update release version : update changelog
host hosting publish production cloudflare : deploy
gmail sync import : export
dump archive : export
leak leaked compromised rotate rotation roll : rotate
blocklist firewall whitelist : allowlist
swagger spec schema openapi postman : openapi
poll polling : polling
search filter query find : search
internal comment remark : note
resend again retry retries redeliver : retry again repeat
canned snippet : template
dark mobile app : console
`;

/** The words of a query or a text, in lower case. A word such as `read-only` or `sentAt` is also there in one piece. */
export function wordsIn(text: string): string[] {
  const hyphened = text.replace(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase();
  const parts = hyphened.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? [];
  return parts.flatMap((part) => {
    const pieces = part.split("-").map((piece) => piece.replace(/['’].*/, ""));
    return pieces.length > 1 ? [...pieces, pieces.join("")] : pieces;
  });
}

const stems = new Map<string, string>();

/** A word without its ending, so that `pages`, `paged` and `page` are the same. */
export function stemOf(word: string): string {
  let stem = stems.get(word);
  if (stem === undefined) stems.set(word, (stem = withoutEnding(word)));
  return stem;
}

function withoutEnding(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  let stem = word.replace(/ies$/, "y").replace(/(?<![siu])s$/, "");
  stem = stem.replace(/(?<=\w{3})(?:ing|ed)$/, "").replace(/([bdgmnprt])\1$/, "$1");
  stem = stem.replace(/(?<=\w{4})(?:ation|ate)$|(?<=\w{4})ion$/, "");
  return stem.length > 3 ? stem.replace(/e$/, "") : stem;
}

const otherWords = new Map<string, string[]>();
for (const line of OTHER_WORDS.trim().split("\n")) {
  const [typed = [], said = []] = line.split(" : ").map((words) => words.split(" ").map(stemOf));
  for (const word of typed) otherWords.set(word, [...(otherWords.get(word) ?? []), ...said]);
}

/** A word of a query as it was typed, its stem, and the stems with which the guides say the same. */
export interface QueryWord {
  typed: string;
  stem: string;
  others: string[];
}

/** The words of a query that say something. If none does, all of them. */
export function queryWords(query: string): QueryWord[] {
  const parts = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const telling = parts.filter((part) => !FILLERS.has(part));
  return (telling.length > 0 ? telling : parts).map((typed) => {
    const stem = stemOf(typed);
    return { typed, stem, others: otherWords.get(stem) ?? [] };
  });
}
