/** The three headers of a signed request, as a receiver gets them. */
export type Signed = Readonly<Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>>;

type Hostile = readonly [
  name: string,
  forge: (signed: Signed) => Readonly<Record<string, string | string[]>>,
];

const withOnly = (name: keyof Signed) => (value: string | string[]) => (signed: Signed) => ({
  ...signed,
  [name]: value,
});
const timestamp = withOnly("webhook-timestamp");
const signature = withOnly("webhook-signature");
const id = withOnly("webhook-id");

const without = (name: keyof Signed) => (signed: Signed) =>
  Object.fromEntries(Object.entries(signed).filter(([key]) => key !== name));

/**
 * What a stranger can send instead of the headers of a genuine request. No receiver may accept one of them, and none may fail
 * at one: a stack trace or a 500 for a stranger is a fault of its own. All of them are valid as HTTP.
 */
export const HOSTILE: readonly Hostile[] = [
  ["none of the headers", () => ({})],
  ["no id", without("webhook-id")],
  ["no timestamp", without("webhook-timestamp")],
  ["no signature", without("webhook-signature")],
  ["empty headers", () => ({ "webhook-id": "", "webhook-timestamp": "", "webhook-signature": "" })],
  ["a timestamp of 400 digits", timestamp("9".repeat(400))],
  ["a timestamp of 5000 digits", timestamp("9".repeat(5_000))],
  ["a timestamp that is too large for a double", timestamp("1e999")],
  ["a negative timestamp", timestamp("-1")],
  ["a timestamp of 64 bits and one more", timestamp("18446744073709551616")],
  ["a timestamp that is not a number", timestamp("NaN")],
  ["a timestamp that is infinite", timestamp("Infinity")],
  ["a timestamp in hexadecimal digits", timestamp("0x7fffffff")],
  ["a timestamp with a fraction", timestamp("1.5")],
  ["a timestamp of digits beyond ASCII", timestamp("\u00b2\u00b3\u00b9")],
  ["a timestamp that was sent twice", timestamp(["1", "2"])],
  ["the timestamp of another time", timestamp("1")],
  ["an id beyond ASCII", id("evt_\u00e9\u00ff")],
  ["an id that is a path", id("../../etc/passwd")],
  ["another id", id("evt_other")],
  ["an id of 5000 characters", id("x".repeat(5_000))],
  ["an id that was sent twice", id(["evt_1", "evt_2"])],
  ["a signature beyond ASCII", signature("v1,\u00e9\u00ff")],
  ["a signature that is not base64", signature("v1,%%%=====")],
  ["a signature of one character", signature("v1,A")],
  ["a signature without a version", signature(",")],
  [
    "a signature of another version",
    ({ "webhook-signature": sent, ...signed }) => ({
      ...signed,
      "webhook-signature": sent.replaceAll("v1,", "v1a,"),
    }),
  ],
  ["a version alone", signature("v1,")],
  ["spaces for a signature", signature("v1 , v1,  ,")],
  ["a thousand signatures", signature(Array(1_000).fill("v1,AAAA").join(" "))],
  ["a signature that was sent twice", signature(["v1,AAAA", "v1,BBBB"])],
];
