import { type Static, Type } from "typebox";
import type { Connection } from "../../../merchants/connection.ts";
import { policyVersion, type ReviewPolicy } from "../../../merchants/review-policy.ts";
import { formatMoney } from "../../../platform/money.ts";
import { expectedVersionField, versionField } from "../../../platform/wire/content-version.ts";
import { MoneyRequestSchema, MoneySchema } from "../../../platform/wire/money-schema.ts";
import type { ValidationError } from "../../../platform/wire/problems.ts";
import { nullable } from "../../../platform/wire/schemas.ts";
import { amountErrors, minorOf } from "../money/amounts.ts";

const POLICY_TEXT =
  "Which orders need no review. An order that exceeds a limit starts in PROCESSING. A quantity or value that is null is limited by REVIEW_ORDER_QUANTITY and REVIEW_ORDER_VALUES only.";

/** The descriptions of fields that a policy and its request share. */
const LIMIT_TEXTS = {
  maxQuantity: "Maximum number of units in the whole order. Null: no limit of its own.",
  maxOrderValue: "Maximum value of the goods, in the merchant's currency. Null: no limit of its own.",
  countries: "Country codes that orders may be shipped to, of two letters. Null: all countries.",
} as const;

export const ReviewPolicySchema = Type.Object(
  {
    maxQuantity: nullable(Type.Integer(), LIMIT_TEXTS.maxQuantity),
    maxOrderValue: nullable(MoneySchema, LIMIT_TEXTS.maxOrderValue),
    countries: nullable(Type.Array(Type.String()), LIMIT_TEXTS.countries),
    version: versionField("this policy"),
  },
  { title: "ReviewPolicy", description: POLICY_TEXT },
);

const policyFields = {
  maxQuantity: Type.Optional(
    nullable(Type.Integer({ minimum: 1, maximum: 2_000_000_000 }), LIMIT_TEXTS.maxQuantity),
  ),
  maxOrderValue: Type.Optional(nullable(MoneyRequestSchema, LIMIT_TEXTS.maxOrderValue)),
  countries: Type.Optional(
    nullable(Type.Array(Type.String({ format: "country-code" }), { maxItems: 300 }), LIMIT_TEXTS.countries),
  ),
};

export const ReviewPolicyRequestSchema = Type.Object(policyFields, {
  title: "ReviewPolicyRequest",
  description: POLICY_TEXT,
});

export const ReviewPolicyUpdateSchema = Type.Object(
  { ...policyFields, expectedVersion: expectedVersionField("version") },
  { title: "ReviewPolicyUpdate", description: POLICY_TEXT },
);

type ReviewPolicyRequest = Static<typeof ReviewPolicyRequestSchema>;

export function toWirePolicy({ currency, reviewPolicy }: Connection): Static<typeof ReviewPolicySchema> {
  const { maxQuantity, maxOrderValueMinor, countries } = reviewPolicy;
  return {
    maxQuantity,
    maxOrderValue: maxOrderValueMinor === null ? null : formatMoney({ minor: maxOrderValueMinor, currency }),
    countries: countries === null ? null : [...countries],
    version: policyVersion(reviewPolicy),
  };
}

/** The whole policy: an absent field has no limit. */
export function toPolicy({
  maxQuantity = null,
  maxOrderValue = null,
  countries = null,
}: ReviewPolicyRequest = {}): ReviewPolicy {
  return {
    maxQuantity,
    maxOrderValueMinor: maxOrderValue === null ? null : minorOf(maxOrderValue),
    countries: countries?.map((country) => country.toUpperCase()) ?? null,
  };
}

/** The policy's amount is in the merchant's currency. */
export const policyErrors = (
  body: unknown,
  owner: { readonly currency: string } | null,
): ValidationError[] =>
  owner === null ? [] : amountErrors(body, "/reviewPolicy/maxOrderValue", owner.currency);
