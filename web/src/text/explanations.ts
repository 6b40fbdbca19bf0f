import type { ApiProblem } from "../api/problem.ts";
import type { CertificationCheck, Problem, RuleParameters, ValidationError } from "../api/schema.d.ts";

type Rule = keyof RuleParameters;
type Code = Problem["code"];

/** The problems whose texts are the same whatever their members are: `problem.*` of the console's other texts. */
export const PROBLEMS_WITH_TEXTS = [
  "unauthorized",
  "forbidden",
  "not-found",
  "rate-limited",
  "unavailable",
  "internal-error",
  "validation-failed",
  "version-changed",
  "person-changed",
] as const satisfies readonly Code[];

/** Undefined: nothing is known of a value among the parameters. */
type Text = string | undefined;

/** What the service says, in one language. A rule or a code without a text does not compile. */
export type ErrorTexts = {
  readonly rules: { readonly [R in Rule]: (parameters: RuleParameters[R]) => Text };
  /** Why a check of a certification matters, and how to pass it. Without a text: what the service says. */
  readonly checks: Readonly<Partial<Record<CertificationCheck["check"], string>>>;
  /** A violation by the name of a member, instead of its value. */
  readonly ofKey: (text: string) => string;
  readonly problems: {
    readonly [C in Exclude<Code, (typeof PROBLEMS_WITH_TEXTS)[number]>]: (
      problem: Extract<Problem, { code: C }>,
    ) => Text;
  };
};

/** Null: not loaded yet. Until then the service's own sentences are shown. */
let known: ErrorTexts | null = null;

/** The language of the console has changed. */
export function setErrorTexts(texts: ErrorTexts | null): void {
  known = texts;
}

/**
 * What is wrong with a field or a line of a file, in the person's language. A newer service can have rules and values that
 * are not known here: its own sentence is shown.
 */
export function explained(error: ValidationError): string {
  if (known === null || !Object.hasOwn(known.rules, error.rule)) return error.detail;
  const textOf = known.rules[error.rule as Rule] as (parameters: ValidationError) => Text; // It has the rule's parameters.
  const text = textOf(error);
  if (text === undefined) return error.detail;
  return error.of === "key" ? known.ofKey(text) : text;
}

/** Why a check of a certification matters, and how to pass it, in the person's language. */
export const explainedCheck = ({ check, why, remedy }: CertificationCheck): string =>
  known?.checks[check] ?? `${why} ${remedy}`;

/** Why something is not possible, in the person's language. */
export function explainedProblem({ code, detail, members }: ApiProblem): string {
  if (known === null || !Object.hasOwn(known.problems, code)) return detail;
  const textOf = known.problems[code as keyof ErrorTexts["problems"]] as (problem: object) => Text; // Its own members.
  return textOf(members) ?? detail;
}
