import { readFileSync } from "node:fs";
import { type TSchema, type TStringOptions, Type } from "typebox";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TRANSITION_RULES, transitionRefused } from "../../../src/orders/changes/transition-order.ts";
import {
  PROBLEMS,
  type Problem,
  problemDocument,
  validationFailed,
} from "../../../src/platform/wire/problems.ts";
import { RULES, type Violation } from "../../../src/platform/wire/rules.ts";
import { createCheck } from "../../../src/platform/wire/validation.ts";
import { ApiProblem } from "../../../web/src/api/problem.ts";
import { errors } from "../../../web/src/text/de/errors.ts";
import { explained, explainedProblem, setErrorTexts } from "../../../web/src/text/explanations.ts";

beforeEach(() => setErrorTexts(errors));
afterEach(() => setErrorTexts(null));

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
    ["is too large", Type.Integer({ maximum: 100_000 }), 100_001, "darf höchstens 100.000 sein"],
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
  ])("that %s is said in German in the German console", (_, schema, value, german) => {
    const { errors: reported } = received(validationFailed(createCheck(schema)(value)));
    expect(reported.map(explained)).toEqual([german]);
  });

  it("stays as it is in English, and where the rule or one of its values is not known", () => {
    const [required, kind] = received(
      validationFailed([
        { pointer: "/name", rule: "required" },
        { pointer: "/id", rule: "not_found", kind: "facility" },
      ]),
    ).errors;
    if (required === undefined || kind === undefined) throw new Error("There are no errors.");
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

  it.each(rules)("%s has a German text for all values of its parameters", (rule, { needs, may }) => {
    for (const names of [needs, [...needs, ...may]]) {
      const values = names.map((name) => valuesOf(described["ValidationError"]?.properties[name] ?? {}));
      const samples = Math.max(1, ...values.map(({ length }) => length));
      for (let at = 0; at < samples; at += 1) {
        const parameters = names.map((name, index) => [name, values[index]?.[at] ?? values[index]?.[0]]);
        const violation = { rule, ...Object.fromEntries(parameters), maxAmount: "1.00" } as Violation;
        const [error] = received(validationFailed([{ pointer: "/field", ...violation }])).errors;
        if (error === undefined) throw new Error("There is no error.");
        const german = explained(error);
        expect(german).not.toBe(error.detail);
        expect(german).not.toMatch(/undefined|NaN|\[object/);
        expect(explained({ ...error, of: "key" })).toContain(german);
      }
    }
  });
});

describe("why a change is not possible", () => {
  it.each(TRANSITION_RULES)("is said in German for the rule %s", (rule) => {
    const order = { status: "NEW" } as Parameters<typeof transitionRefused>[1]; // Its status alone is used.
    const problem = received(transitionRefused("ship", order, rule));
    const german = explainedProblem(problem);
    expect(german).not.toBe(problem.detail);
    expect(german).not.toMatch(/undefined|höchstens {2}|hat {2}/);
  });

  it.each<[string, Problem]>([
    ["a person", { code: "person-state", detail: "No.", members: { state: "disabled" } }],
    [
      "a token",
      { code: "token-not-rotatable", detail: "No.", members: { reason: "revoked", replacedBy: null } },
    ],
    ["a limit", { code: "limit-reached", detail: "No.", members: { limit: "views", maximum: 3 } }],
    ["a large file", { code: "payload-too-large", detail: "No.", members: { maxBytes: 262_144 } }],
  ])("is said in German for %s", (_, problem) => {
    expect(explainedProblem(received(problem))).not.toBe("No.");
    setErrorTexts(null);
    expect(explainedProblem(received(problem))).toBe("No.");
  });
});
