import { readFileSync } from "node:fs";
import { type TSchema, type TStringOptions, Type } from "typebox";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { FIXED_LIMITS, LIMIT_DESCRIPTIONS } from "../../../src/merchants/limits.ts";
import { TRANSITION_RULES, transitionRefused } from "../../../src/orders/changes/transition-order.ts";
import {
  PROBLEMS,
  type Problem,
  problemDocument,
  SIGN_IN_FAILURES,
  validationFailed,
} from "../../../src/platform/wire/problems.ts";
import { RULES, type Violation } from "../../../src/platform/wire/rules.ts";
import { createCheck } from "../../../src/platform/wire/validation.ts";
import { ApiProblem } from "../../../web/src/api/problem.ts";
import { errors as german } from "../../../web/src/text/errors.de.ts";
import { errors as english } from "../../../web/src/text/errors.en.ts";
import { explained, explainedProblem, setErrorTexts } from "../../../web/src/text/explanations.ts";
import { setFormatLanguage } from "../../../web/src/text/format.ts";

function speak(language: "de" | "en"): void {
  setErrorTexts(language === "de" ? german : english);
  setFormatLanguage(language);
}

// A person in Switzerland, who reads English as in India.
beforeAll(() => vi.stubGlobal("navigator", { languages: ["de-CH", "en-IN"] }));
afterAll(() => vi.unstubAllGlobals());
beforeEach(() => speak("de"));
afterEach(() => setErrorTexts(null));

/** Without the kinds of spaces and apostrophes, in which versions of ICU differ. */
const plain = (text: string): string => text.replace(/\s/g, " ").replaceAll("’", "'");

const languages = Object.entries({ German: german, English: english });

const text = (options: TStringOptions = {}) => Type.String(options);

/** The problem as the console receives it. */
const received = (problem: Problem): ApiProblem =>
  new ApiProblem(
    PROBLEMS[problem.code].status,
    new Headers(),
    JSON.parse(JSON.stringify(problemDocument(problem, "https://errors.example", "/api/orders"))),
  );

describe("what the service says about a field", () => {
  it.each<[string, TSchema, unknown, string]>([
    ["is missing", Type.Object({ name: text() }), {}, "wird gebraucht"],
    ["is too short", text({ minLength: 1 }), "", "muss mindestens 1 Zeichen haben"],
    ["is too long", text({ maxLength: 3 }), "long", "darf höchstens 3 Zeichen haben"],
    ["is too small", Type.Integer({ minimum: 1 }), 0, "muss mindestens 1 sein"],
    ["is too large", Type.Integer({ maximum: 100_000 }), 100_001, "darf höchstens 100'000 sein"],
    ["is no text", text(), 1, "muss ein Text sein"],
    ["is no number", Type.Integer(), "1", "muss eine Zahl sein"],
    ["is no boolean", Type.Boolean(), "yes", "muss true oder false sein"],
    ["is none of the values", Type.Unsafe({ enum: ["a", "b"] }), "c", "muss einer dieser Werte sein: a, b"],
    ["has too few items", Type.Array(text(), { minItems: 2 }), [], "muss mindestens 2 Einträge haben"],
    ["has too many items", Type.Array(text(), { maxItems: 1 }), ["a", "b"], "darf höchstens 1 Eintrag haben"],
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
  ])("that %s is said in German in the German console", (_, schema, value, expected) => {
    const { errors: reported } = received(validationFailed(createCheck(schema)(value)));
    expect(reported.map((error) => plain(explained(error)))).toEqual([expected]);
  });

  it("has numbers, amounts and lists in the person's own regional form", () => {
    const reported = received(
      validationFailed([
        { pointer: "/a", rule: "maximum", max: 10_000_000 },
        { pointer: "/b", rule: "refundable", maxAmount: "1234567.50", currency: "EUR" },
        { pointer: "/c", rule: "role_allows", allowed: ["a", "b", "c"] },
      ]),
    ).errors;
    const texts = () => reported.map((error) => plain(explained(error)));
    expect(texts()).toEqual([
      "darf höchstens 10'000'000 sein",
      "darf höchstens EUR 1'234'567.50 sein: mehr kann nicht mehr erstattet werden",
      "muss a, b oder c sein; andere Gründe erlaubt Ihre Rolle nicht",
    ]);
    speak("en");
    expect(texts()).toEqual([
      "must be at most 1,00,00,000",
      "must be at most €12,34,567.50: no more can be refunded",
      "must be a, b or c; your role does not allow other reasons",
    ]);
  });

  it.each(languages)("is said by the service where %s knows no text for it", (_, texts) => {
    const [required, kind] = received(
      validationFailed([
        { pointer: "/name", rule: "required" },
        { pointer: "/id", rule: "not_found", kind: "facility" },
      ]),
    ).errors;
    if (required === undefined || kind === undefined) throw new Error("There are no errors.");
    setErrorTexts(texts);
    expect(explained({ ...required, rule: "a_new_rule", detail: "is new" })).toBe("is new");
    expect(explained({ ...kind, kind: "a_new_kind", detail: "is no planet" })).toBe("is no planet");
    setErrorTexts(null);
    expect(explained(required)).toBe("is required");
  });
});

type Described = {
  readonly enum?: readonly string[];
  readonly type?: string;
  readonly $ref?: string;
  readonly anyOf?: readonly Described[];
};
const { components } = JSON.parse(readFileSync("openapi/back-office.json", "utf8"));
const described: Record<string, Described & { readonly properties: Record<string, Described> }> =
  components.schemas;

/** Values of a parameter: each one that the description names. */
function valuesOf({ $ref, anyOf, enum: values, type }: Described): unknown[] {
  if ($ref !== undefined) return valuesOf(described[$ref.split("/").at(-1) ?? ""] ?? {});
  if (anyOf !== undefined) return valuesOf(anyOf[0] ?? {});
  if (values !== undefined) return [...values];
  if (type === "array") return [["EUR", "sku"]];
  return [type === "string" ? "EUR" : 3];
}

describe("every rule of the description", () => {
  const rules: [string, { needs: string[]; may: string[] }][] = Object.entries(
    components.schemas.ValidationRule["x-parameters"],
  );

  it("is one that the service has", () => expect(rules.map(([rule]) => rule)).toEqual(Object.keys(RULES)));

  it.each(rules)(
    "%s has a text in both languages for all values of its parameters",
    (rule, { needs, may }) => {
      for (const names of [needs, [...needs, ...may]]) {
        const values = names.map((name) => valuesOf(described["ValidationError"]?.properties[name] ?? {}));
        const samples = Math.max(1, ...values.map(({ length }) => length));
        for (let at = 0; at < samples; at += 1) {
          const parameters = names.map((name, index) => [name, values[index]?.[at] ?? values[index]?.[0]]);
          const violation = { rule, ...Object.fromEntries(parameters), maxAmount: "1.00" } as Violation;
          const [error] = received(validationFailed([{ pointer: "/field", ...violation }])).errors;
          if (error === undefined) throw new Error("There is no error.");
          const texts = languages.map(([, known]) => {
            setErrorTexts(known);
            const text = explained({ ...error, detail: "No." });
            expect(text).not.toBe("No.");
            expect(text).not.toMatch(/undefined|NaN|\[object/);
            expect(explained({ ...error, of: "key" })).toContain(text);
            return text;
          });
          expect(new Set(texts).size).toBe(languages.length);
        }
      }
    },
  );
});

describe.each(languages)("why a change is not possible, in %s", (_, texts) => {
  beforeEach(() => setErrorTexts(texts));

  const textOf = (problem: Problem): string => {
    const text = explainedProblem(received({ ...problem, detail: "No." } as Problem)); // Of the same code.
    expect(text).not.toBe("No.");
    expect(text).not.toMatch(/undefined|NaN|(?:höchstens|hat|most|has) {2}/);
    return text;
  };

  it.each(TRANSITION_RULES)("is said for the rule %s", (rule) => {
    const order = { status: "NEW" } as Parameters<typeof transitionRefused>[1]; // Its status alone is used.
    textOf(transitionRefused("ship", order, rule));
  });

  it("is said for each reason of a sign-in that failed", () => {
    const reasons = Object.keys(SIGN_IN_FAILURES);
    const said = reasons.map((reason) => textOf({ code: "sign-in-failed", detail: "", members: { reason } }));
    expect(new Set(said).size).toBe(reasons.length);
  });

  it("is said for each limit, with its maximum", () => {
    const limits = Object.keys({ ...LIMIT_DESCRIPTIONS, ...FIXED_LIMITS });
    expect(described["KnownLimitName"]?.enum).toEqual(limits);
    const said = limits.map((limit) =>
      textOf({ code: "limit-reached", detail: "", members: { limit, maximum: 7 } }),
    );
    for (const text of said) expect(text).toContain("7");
    expect(new Set(said).size).toBe(limits.length);
  });

  it("is said by the service for a limit that is not known", () => {
    const members = { limit: "planets", maximum: 8 };
    expect(explainedProblem(received({ code: "limit-reached", detail: "No.", members }))).toBe("No.");
  });

  it.each<[string, Problem]>([
    ["a person", { code: "person-state", detail: "", members: { state: "disabled" } }],
    [
      "a token",
      { code: "token-not-rotatable", detail: "", members: { reason: "revoked", replacedBy: null } },
    ],
    ["a large file", { code: "payload-too-large", detail: "", members: { maxBytes: 262_144 } }],
  ])("is said for %s", (_name, problem) => {
    textOf(problem);
    setErrorTexts(null);
    expect(explainedProblem(received({ ...problem, detail: "No." } as Problem))).toBe("No."); // Of the same code.
  });
});
