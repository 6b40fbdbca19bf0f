import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type Diagnosis, diagnose, type Evidence } from "../../packages/signature-doctor/diagnose.ts";
import { FINDINGS, type Finding, type FindingCode } from "../../packages/signature-doctor/finding.ts";
import { bySeverity, sentenceOf } from "../../packages/signature-doctor/texts.ts";

// What the service signs: HMAC-SHA-256 as in Standard Webhooks 1.0.0, here by Node instead of WebCrypto.
const sign = (secret: string, content: string, encoding: "base64" | "hex" = "base64") =>
  createHmac("sha256", Buffer.from(secret.slice(6), "base64"))
    .update(content)
    .digest(encoding);

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
const ID = "evt_01kjpwd6m0f1wav3ps5hw1abes";
const NOW = new Date("2026-03-02T09:00:00.000Z");
const TIMESTAMP = String(NOW.getTime() / 1_000);
const BODY = JSON.stringify({
  id: ID,
  type: "order.created",
  timestamp: NOW.toISOString(),
  testMode: true,
  connectionId: "con_1",
  sequence: 1,
  data: { order: { name: "Jürgen / Söhne", note: "a,b: c" } },
});

const CONTENT = `${ID}.${TIMESTAMP}.${BODY}`;
const GENUINE = `v1,${sign(SECRET, CONTENT)}`;

const headersOf = ({ id = ID, timestamp = TIMESTAMP, signature = GENUINE } = {}) =>
  `content-type: application/json\nwebhook-id: ${id}\nwebhook-timestamp: ${timestamp}\nwebhook-signature: ${signature}`;

const check = (fields: Partial<Evidence> = {}, now = NOW): Promise<Diagnosis> =>
  diagnose({ headers: headersOf(), body: BODY, secret: SECRET, computed: "", arrival: "", ...fields }, now);
const codesOf = ({ findings }: Diagnosis) => findings.map(({ code }) => code);
/** The verdict and all codes. */
const found = async (fields: Partial<Evidence>, now = NOW) => {
  const diagnosis = await check(fields, now);
  return [diagnosis.verdict, ...codesOf(diagnosis)];
};

describe("a genuine request", () => {
  it("is genuine without findings", async () =>
    expect(await check()).toEqual({ verdict: "genuine", findings: [] }));

  it.each([
    [
      "a JSON object",
      JSON.stringify({
        "webhook-id": ID,
        "webhook-timestamp": Number(TIMESTAMP),
        "webhook-signature": [GENUINE],
      }),
    ],
    [
      "a whole request",
      `POST /hooks?a=b HTTP/1.1\r\nHost: partner.example\r\n${headersOf().replaceAll("\n", "\r\n")}\r\n`,
    ],
    [
      "a curl command",
      headersOf()
        .split("\n")
        .map((line) => `-H '${line}' \\`)
        .join("\n"),
    ],
    [
      "one line of a curl command",
      `curl https://x.example ${headersOf()
        .split("\n")
        .map((line) => `-H '${line}'`)
        .join(" ")}`,
    ],
    ["other spellings", headersOf().replace("webhook-id", "Webhook-Id")],
  ])("is found in headers as %s", async (_, headers) =>
    expect((await check({ headers })).verdict).toBe("genuine"),
  );

  it.each([
    ["HTTP_WEBHOOK_ID", "webhook-id"],
    ["webhook_timestamp", "webhook-timestamp"],
    ["svix-signature", "webhook-signature"],
  ])("under the renamed header %s says so", async (given, name) => {
    const { verdict, findings } = await check({ headers: headersOf().replace(name, given) });
    expect(verdict).toBe("genuine");
    expect(findings).toEqual([{ code: "header_renamed", values: { given, name } }]);
  });
});

describe("too little to check", () => {
  it.each<[string[], Partial<Evidence>]>([
    [["headers_absent"], { headers: "" }],
    [["header_missing", "header_missing", "header_missing"], { headers: "nothing of use" }],
    [["header_missing"], { headers: headersOf().replace("webhook-id", "x-id") }],
    [["body_absent"], { body: "" }],
    [["secret_absent"], { secret: " " }],
    [["secret_is_key"], { secret: "pok_test_abc" }],
    [["secret_is_id"], { secret: "whe_01kjpwd6m0f1wav3ps5hw1abes" }],
    [["secret_form"], { secret: "whsec_…" }],
    [["signature_form"], { headers: headersOf({ signature: "v1,***" }) }],
    [["signature_version"], { headers: headersOf({ signature: `v1a,${"A".repeat(43)}` }) }],
    [["signature_length"], { headers: headersOf({ signature: GENUINE.slice(0, 19) }) }],
    [["input_too_long"], { body: "x".repeat(2_000_001) }],
  ])("%j", async (codes, fields) => expect(await found(fields)).toEqual(["incomplete", ...codes]));

  it("names the header that is missing", async () => {
    const { findings } = await check({ headers: headersOf().replace("webhook-signature", "x") });
    expect(findings).toEqual([{ code: "header_missing", values: { name: "webhook-signature" } }]);
  });
});

describe("what happened to the body", () => {
  it.each([
    ["body_wrapped", `${BODY}\n`],
    ["body_wrapped", `\uFEFF${BODY}`],
    ["body_quoted", JSON.stringify(BODY)],
    ["body_base64", Buffer.from(BODY).toString("base64")],
    ["body_charset", Buffer.from(BODY).toString("latin1")],
    ["body_rewritten", JSON.stringify(JSON.parse(BODY), null, 2)],
    ["body_rewritten", BODY.replaceAll("/", "\\/").replaceAll("ü", "\\u00fc")],
  ])("%s", async (code, body) => expect(await found({ body })).toEqual(["explained", code]));

  it.each([
    ["body_not_json", BODY.slice(0, -5)],
    ["body_changed", "1"],
    ["body_changed", BODY.replace('"sequence":1', '"sequence": 2')],
    ["body_order", JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(BODY)).sort()))],
    ["secret_differs", BODY.replace('"sequence":1', '"sequence":2')],
  ])("%s, if no reading of it was signed", async (code, body) => {
    const [verdict, ...codes] = await found({ body });
    expect(verdict).toBe("different");
    expect(codes).toContain(code);
  });
});

describe("the headers of another request", () => {
  it("an id that is not the event's is the cause", async () => {
    const { verdict, findings } = await check({ headers: headersOf({ id: "dlv_1" }) });
    expect(verdict).toBe("explained");
    expect(findings).toEqual([{ code: "id_differs", values: { id: "dlv_1", eventId: ID } }]);
  });

  it.each([
    ["timestamp_milliseconds", `${TIMESTAMP}000`],
    ["timestamp_form", NOW.toISOString()],
  ])("%s", async (code, timestamp) =>
    expect(await found({ headers: headersOf({ timestamp }) })).toEqual(["explained", code]),
  );

  it("two faults at once are both reported", async () =>
    expect(await found({ headers: headersOf({ timestamp: `${TIMESTAMP}000` }), body: `${BODY}\n` })).toEqual([
      "explained",
      "timestamp_milliseconds",
      "body_wrapped",
    ]));

  it("an id of another form and a timestamp that is none are reported if nothing fits", async () => {
    const [verdict, ...codes] = await found({
      headers: headersOf({ id: "7", timestamp: "soon" }),
      body: "{}",
    });
    expect(verdict).toBe("different");
    expect(codes).toEqual(expect.arrayContaining(["id_form", "timestamp_form"]));
  });
});

describe("the form of the signature", () => {
  const hex = sign(SECRET, CONTENT, "hex");
  const urlSafe = GENUINE.replaceAll("+", "-").replaceAll("/", "_");
  it.each([
    ["signature_hex", `v1,${hex}`],
    ["signature_hex", `sha256=${hex}`],
    ["signature_unversioned", GENUINE.slice(3)],
    ["signature_separator", `v1,${sign(OTHER, CONTENT)},${GENUINE}`],
    ...(urlSafe === GENUINE ? [] : [["signature_url_safe", urlSafe]]),
  ])("%s is explained", async (code, signature) => {
    const [verdict, ...codes] = await found({ headers: headersOf({ signature: signature ?? "" }) });
    expect(verdict).toBe("explained");
    expect(codes).toContain(code);
  });

  it("the same header twice with different values is reported", async () =>
    expect(await found({ headers: `${headersOf()}\nwebhook-id: other` })).toEqual([
      "genuine",
      "header_repeated",
    ]));
});

describe("the secret", () => {
  it.each([
    ["genuine", "secret_wrapped", ` "${SECRET}"\n`],
    ["genuine", "secret_without_prefix", SECRET.slice(6)],
    ["different", "secret_differs", OTHER],
    ["different", "secret_length", "whsec_c2hvcnQ="],
  ])("%s: %s", async (verdict, code, secret) => {
    const [actual, ...codes] = await found({ secret });
    expect(actual).toBe(verdict);
    expect(codes).toContain(code);
  });

  const both = `v1,${sign(OTHER, CONTENT)} ${GENUINE}`;
  it("an older one fits the second signature during the overlap of a rotation", async () =>
    expect(await check({ headers: headersOf({ signature: both }) })).toEqual({
      verdict: "genuine",
      findings: [
        { code: "signatures_several", values: { count: 2 } },
        { code: "secret_older", values: { position: 2, count: 2 } },
      ],
    }));

  it("the newest one fits the first", async () =>
    expect(await found({ headers: headersOf({ signature: both }), secret: OTHER })).toEqual([
      "genuine",
      "signatures_several",
    ]));
});

describe("the clock", () => {
  const after = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
  it.each<[number, string[]]>([
    [300, []],
    [301, ["timestamp_old"]],
    [-300, []],
    [-301, ["timestamp_future"]],
  ] as [number, string[]][])(
    "%i seconds after the timestamp, without the time of arrival",
    async (seconds, codes) => expect(await found({}, after(seconds))).toEqual(["genuine", ...codes]),
  );

  it.each<[number, string[]]>([
    [300, []],
    [301, ["clock_ahead"]],
    [-301, ["clock_behind"]],
  ])("%i seconds after it by the receiver's clock", async (seconds, codes) => {
    for (const arrival of [
      after(seconds).toISOString(),
      String(after(seconds).getTime() / 1_000),
      String(after(seconds).getTime()),
    ])
      expect(await found({ arrival }, after(86_400))).toEqual(["genuine", ...codes]);
  });

  it("a time that cannot be read is reported", async () =>
    expect(await found({ arrival: "noon" })).toEqual(["genuine", "arrival_form"]));
});

describe("the signature that one's own program has computed", () => {
  const hmac = (key: string | Buffer, content: string) =>
    createHmac("sha256", key).update(content).digest("base64");
  const key = Buffer.from(SECRET.slice(6), "base64");
  it.each([
    ["computed_right", hmac(key, CONTENT)],
    ["computed_right", GENUINE],
    ["computed_hex", sign(SECRET, CONTENT, "hex")],
    ["computed_secret_text", hmac(SECRET.slice(6), CONTENT)],
    ["computed_prefix_kept", hmac(SECRET, CONTENT)],
    ["computed_prefix_kept", hmac(Buffer.from(SECRET, "base64"), CONTENT)],
    ["computed_secret_text", hmac(SECRET.slice(6), BODY)],
    ["computed_body_only", hmac(key, BODY)],
    ["computed_without_id", hmac(key, `${TIMESTAMP}.${BODY}`)],
    ["computed_without_timestamp", hmac(key, `${ID}.${BODY}`)],
    ["computed_rewritten", hmac(key, `${ID}.${TIMESTAMP}.${JSON.stringify(JSON.parse(BODY), null, 2)}`)],
    ["computed_rewritten", hmac(key, `${ID}.${TIMESTAMP}.${BODY}\n`)],
    ["computed_rewritten", hmac(key, `${ID}.${TIMESTAMP}.[object Object]`)],
    ["computed_unlike", "c2hvcnQ="],
    ["computed_unlike", "no base64!"],
    ["computed_unknown", hmac("something else", CONTENT)],
  ])("%s", async (code, computed) => expect(await found({ computed })).toEqual(["genuine", code]));

  it("as Python writes JSON", async () => {
    const python = `{"id": "${ID}", "name": "J\\u00fcrgen"}`;
    const body = `{"id":"${ID}","name":"Jürgen"}`;
    const signature = `v1,${sign(SECRET, `${ID}.${TIMESTAMP}.${body}`)}`;
    const computed = hmac(key, `${ID}.${TIMESTAMP}.${python}`);
    expect(await found({ headers: headersOf({ signature }), body, computed })).toEqual([
      "genuine",
      "computed_rewritten",
    ]);
  });
});

describe("the sentences of findings", () => {
  it("name their values, and leave no placeholder", async () => {
    const { findings } = await check({ headers: headersOf({ id: "msg_1" }), secret: "pok_test_1" });
    expect(bySeverity(findings).map(sentenceOf)).toEqual([
      "This is an API key. Use the signing secret of the endpoint, which begins with whsec_.",
      "webhook-id is msg_1. The service sends the id of the event, which begins with evt_.",
    ]);
    const old: Finding = { code: "timestamp_old", values: { seconds: 7_300 } };
    expect(sentenceOf(old)).toContain("sent 2 hours ago");
    const values = {
      name: "n",
      given: "g",
      id: "i",
      eventId: "e",
      version: "v2",
      bytes: 1,
      count: 2,
      prefix: "p",
    };
    for (const code of Object.keys(FINDINGS) as FindingCode[])
      expect(sentenceOf({ code, values: { ...values, position: 1, seconds: 60 } })).not.toMatch(/[{}]/);
  });
});
