import { expect, test } from "vitest";
import { MAX_WEBHOOK_URL, normalizedUrl, webhookUrlFault } from "../../../src/model/webhook-url.ts";

const OURS = ["parley.example", "localhost:8787", "PARLEY.acme.workers.dev"];

const fault = (url: string, allowLocal = false) => webhookUrlFault(url, { ownHosts: OURS, allowLocal });

const label = "a".repeat(63);
const longest = `https://shop.example/${"a".repeat(MAX_WEBHOOK_URL - "https://shop.example/".length)}`;

test.each([
  "https://shop.example",
  "https://shop.example/",
  "https://shop.example/hooks/parley?tenant=4711&x=%20#".slice(0, -1),
  "https://shop.example:443/hooks",
  "https://shop.example:0443/hooks",
  "HTTPS://SHOP.Example/Hooks",
  "https://a.b.c.d.shop.example/",
  "https://shop-1.example.co.uk/",
  "https://_hooks.shop.example/",
  "https://1.shop.example/",
  "https://10.0.0.1.shop.example/",
  "https://127-0-0-1.shop.example/",
  "https://münchen.example/hooks",
  "https://xn--mnchen-3ya.example/hooks",
  "https://пример.рф/",
  "https://例え.テスト/",
  "https://shop.example/user@name",
  "https://shop.example/?to=a@b.example",
  "https://shop.example/?url=http://127.0.0.1/",
  "https://local.shop.example/",
  "https://localhost.shop.example/",
  "https://mylocal/".replace("mylocal", "mylocal.example"),
  "https://notlocal.xlocal/",
  "https://parley.example.com/",
  "https://hooks.parley.example/",
  `https://${label}.example/`,
  longest,
])("%s can be the URL of a webhook", (url) => {
  expect(fault(url)).toBeNull();
  expect(fault(url, true)).toBeNull();
});

const NO_URL = "must be a URL such as https://example.com/webhooks";
const NO_HTTPS = "must begin with https://";
const OTHER_PORT = "must use port 443";
const USER_INFO = "must not contain a user name or a password";
const FRAGMENT = "must not contain a fragment";
const IP = "must have a host name, not an IP address";
const DOT_AT_END = "must have a host name that does not end with a dot";
const LOCAL = "must have a public host name";
const ONE_LABEL = "must have a host name with a dot";
const INVALID_HOST = "must have a valid host name";
const OWN = "must not be an address of this service";

const REFUSED: Record<string, string[]> = {
  [NO_URL]: [
    "",
    " ",
    "shop.example",
    "//shop.example/",
    "/hooks",
    "https",
    "https:",
    "https://",
    "https:///",
    "https://?x",
    " https://shop.example/",
    "https://shop.example/ ",
    "https://shop.example/a b",
    "https://shop.exam\tple/",
    "https://shop.example/\nhooks",
    "https://shop.example/\r\nX-Header: 1",
    "https://shop.example/\u0000",
    "https://shop.example/\u00a0",
    "https://shop.example/\u2028",
    "https:\\\\shop.example\\",
    "https://shop.example\\@evil.example/",
    "https://shop.example:65536/",
    "https://shop.example:port/",
    "https://shop.example:-1/",
    "https://shop%00.example/",
    "https://shop%2f.example/",
    "https://sh<op.example/",
    "https://1.2.3.4.5/",
    "https://256.1.1.1/",
    "https://shop.256/",
    "https://[::1/",
    "https://[fe80::1%25eth0]/",
    "https://[fe80::1%eth0]/",
    "https://[::ffff:127.0.0.256]/",
  ],
  [NO_HTTPS]: [
    "http://shop.example/",
    "HTTP://shop.example/",
    "http://shop.example:443/",
    "ftp://shop.example/",
    "ws://shop.example/",
    "wss://shop.example/",
    "file:///etc/passwd",
    "data:text/plain,hello",
    "javascript:alert(1)",
    "gopher://shop.example/",
    "mailto:hooks-at-shop.example",
    "blob:https://shop.example/1",
    "shop.example:443",
  ],
  [OTHER_PORT]: [
    "https://shop.example:80/",
    "https://shop.example:8443/",
    "https://shop.example:22/",
    "https://shop.example:0/",
    "https://shop.example:4430/",
    "https://shop.example:65535/",
  ],
  [USER_INFO]: [
    "https://user@shop.example/",
    "https://user:password@shop.example/",
    "https://:password@shop.example/",
    "https://@shop.example/",
    "https://:@shop.example/",
    "https://shop.example:443@evil.example/",
    "https://shop.example%2f@evil.example/",
    "https:user@shop.example/",
    "https:////user@shop.example/",
  ],
  [FRAGMENT]: [
    "https://shop.example/#",
    "https://shop.example/#part",
    "https://shop.example#part",
    "https://shop.example/?x#y",
  ],
  [IP]: [
    "https://127.0.0.1/",
    "https://10.0.0.1/hooks",
    "https://192.0.2.1/",
    "https://8.8.8.8/",
    "https://169.254.169.254/latest/meta-data/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.0.0.1/",
    "https://0177.0.0.1/",
    "https://017700000001/",
    "https://127.1/",
    "https://127.0.1/",
    "https://0/",
    "https://0x0/",
    "https://1.1/",
    "https://127.0.0.1./",
    "https://%31%32%37.0.0.1/",
    "https://127。0。0。1/",
    "https://１２７.0.0.1/",
    "https://①②⑦.0.0.1/",
    "https://[::1]/",
    "https://[::]/",
    "https://[2001:db8::1]/",
    "https://[fe80::1]/",
    "https://[fd00::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[0:0:0:0:0:0:0:1]/",
  ],
  [DOT_AT_END]: [
    "https://shop.example./",
    "https://localhost./",
    "https://shop.example../",
    "https://printer.local./",
    "https://shop.example。/",
  ],
  [LOCAL]: [
    "https://printer.local/",
    "https://local/",
    "https://metadata.google.internal/",
    "https://internal/",
    "https://db.INTERNAL/",
    "https://localhost/",
    "https://app.localhost/",
    "https://%6c%6f%63%61%6c%68%6f%73%74/",
    "https://ｌｏｃａｌｈｏｓｔ/",
    "https://local\u00adhost/",
    "https://1.0.0.127.in-addr.arpa/",
    "https://home.arpa/",
    "https://abcdefghijklmnop.onion/",
    "https://ⓛocalhost/",
  ],
  [ONE_LABEL]: [
    "https://shop/",
    "https://metadata/",
    "https://intranet/hooks",
    "https://xn--mnchen-3ya/",
    "https://com/",
  ],
  [INVALID_HOST]: [
    `https://${label}a.example/`,
    `https://${`${label}.`.repeat(4)}example/`,
    "https://.example/",
    "https://shop..example/",
  ],
  [OWN]: [
    "https://parley.example/",
    "https://parley.example:443/api/v1/chats",
    "https://PARLEY.example/",
    "https://parley.acme.workers.dev/hooks",
    "https://parl\u00adey.example/",
    "https://localhost:8787/",
    "http://localhost:8787/",
  ],
  [`must have at most ${MAX_WEBHOOK_URL} characters`]: [`${longest}a`, `https://${"a".repeat(100_000)}.example/`],
};

const TABLE = Object.entries(REFUSED).flatMap(([text, urls]) => urls.map((url) => [url, text] as const));

test("the table has at least 80 URLs", () => {
  expect(new Set(TABLE.map(([url]) => url)).size).toBe(TABLE.length);
  expect(TABLE.length).toBeGreaterThan(80);
});

test.each(TABLE)("%j is not the URL of a webhook: %s", (url, text) => {
  expect(fault(url)).toBe(text);
});

test.each([
  "http://localhost:3000/hook",
  "http://localhost/",
  "https://localhost/",
  "http://127.0.0.1:3000/hook",
  "http://127.1.2.3/",
  "http://2130706433/",
  "http://[::1]:3000/",
  "http://localhost:8788/",
])("%s is allowed on a developer's machine, and nowhere else", (url) => {
  expect(fault(url, true)).toBeNull();
  expect(fault(url)).not.toBeNull();
});

test.each([
  "http://shop.example/",
  "http://10.0.0.1/",
  "http://[::ffff:127.0.0.1]/",
  "http://[fe80::1]/",
  "http://0.0.0.0/",
  "http://localhost.shop.example/",
  "http://app.localhost/",
  "http://localhost./",
  "http://user@localhost/",
  "http://localhost/#part",
  "http://localhost:8787/api/v1/chats",
  "ftp://localhost/",
  "ws://localhost/",
  "https://shop.example:8443/",
])("%s is not allowed on a developer's machine either", (url) => {
  expect(fault(url, true)).not.toBeNull();
});

test("the parser writes two forms of one URL alike", () => {
  const forms = [
    "https://shop.example",
    "HTTPS://SHOP.example:443/",
    "https://shop.example/./",
    "https://sh%6fp.example/a/..",
  ];
  expect(forms.map(normalizedUrl)).toEqual(forms.map(() => "https://shop.example/"));
  expect(normalizedUrl("https://münchen.example/Ü?q=ü")).toBe("https://xn--mnchen-3ya.example/%C3%9C?q=%C3%BC");
});
