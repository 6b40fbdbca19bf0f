import { type TSchema, type TStringOptions, Type } from "typebox";
import { afterEach, describe, expect, it } from "vitest";
import {
  TRANSITION_RULES,
  detailOf as transitionRuleText,
} from "../../../src/orders/changes/transition-order.ts";
import { amountError } from "../../../src/platform/money.ts";
import { sentenceOf } from "../../../src/platform/wire/rules.ts";
import { createCheck } from "../../../src/platform/wire/validation.ts";
import { explanations } from "../../../web/src/text/de/explanations.ts";
import { explained, setExplanations } from "../../../web/src/text/explanations.ts";

afterEach(() => setExplanations([]));

const text = (options: TStringOptions = {}) => Type.String(options);

describe("what the service says about a field", () => {
  it.each<[string, TSchema, unknown, string]>([
    ["is missing", Type.Object({ name: text() }), {}, "wird gebraucht"],
    ["is too short", text({ minLength: 1 }), "", "muss mindestens 1 Zeichen haben"],
    ["is too long", text({ maxLength: 3 }), "long", "darf höchstens 3 Zeichen haben"],
    ["is too small", Type.Integer({ minimum: 1 }), 0, "muss mindestens 1 sein"],
    ["is too large", Type.Integer({ maximum: 100_000 }), 100_001, "darf höchstens 100000 sein"],
    ["is no text", text(), 1, "muss ein Text sein"],
    ["is no number", Type.Integer(), "1", "muss eine Zahl sein"],
    ["is no boolean", Type.Boolean(), "yes", "muss true oder false sein"],
    ["is none of the values", Type.Unsafe({ enum: ["a", "b"] }), "c", "muss einer dieser Werte sein: a, b"],
    ["has too few items", Type.Array(text(), { minItems: 2 }), [], "muss mindestens 2 Einträge haben"],
    [
      "has too many items",
      Type.Array(text(), { maxItems: 1 }),
      ["a", "b"],
      "darf höchstens 1 Einträge haben",
    ],
    [
      "is not known",
      Type.Object({ a: text() }, { additionalProperties: false }),
      { a: "", b: "" },
      "ist kein bekanntes Feld; es gibt a",
    ],
    ["is no mail address", text({ format: "email" }), "a", "muss eine E-Mail-Adresse sein"],
    ["is no time", text({ format: "date-time" }), "a", "muss ein Zeitpunkt nach ISO 8601 mit Zeitzone sein"],
    ["is no UUID", text({ format: "uuid" }), "a", "muss eine UUID sein"],
    [
      "is no country",
      text({ format: "country-code" }),
      "UK",
      "ist kein Ländercode nach ISO 3166-1; schreiben Sie GB statt UK",
    ],
  ])("that %s is said in German in the German console", (_, schema, value, german) => {
    setExplanations(explanations);
    const details = createCheck(schema)(value).map((error) => explained(sentenceOf(error)));
    expect(details).toEqual([german]);
  });

  it.each(TRANSITION_RULES.map((rule) => [rule, transitionRuleText(rule)]))(
    "about a transition by the rule %s is said in German",
    (_, detail) => {
      setExplanations(explanations);
      expect(explained(detail)).not.toBe(detail);
    },
  );

  it.each([
    sentenceOf(amountError("EUR")),
    sentenceOf(amountError("JPY")),
    "is not a merchant",
    "is not a facility",
    "is not a connection",
    "must be at most 3, the quantity of the line",
    "must be at most 3, the units that have shipped and not come back",
    "must be a URL that begins with https://",
  ])("that is made of several texts is said in German: %s", (detail) => {
    setExplanations(explanations);
    expect(explained(detail)).not.toBe(detail);
  });

  it("stays as it is in English, and where no translation is known", () => {
    expect(explained("is required")).toBe("is required");
    setExplanations(explanations);
    expect(explained("is a new rule")).toBe("is a new rule");
  });

  it("has a translation for a whole explanation only", () => {
    for (const [pattern] of explanations) expect(pattern.source).toMatch(/^\^.*\$$/);
  });
});
