import { Type } from "typebox";
import { nullable } from "../platform/wire/schemas.ts";

// A partner's own texts about an order (decision 0081). The service stores it and returns it.

/** Text by key. Every key and every value is the partner's. */
export type Metadata = Readonly<Record<string, string>>;

const METADATA = {
  meaning: "The partner's own data about the order. The service does not use it.",
  examples: [{ channel: "web", campaign: "spring" }],
} as const;
const NOTE = {
  meaning: "A message to the people who handle the order.",
  examples: ["Please ring twice."],
} as const;

export const metadataField = Type.Unsafe<Metadata>({
  type: "object",
  additionalProperties: { type: "string" },
  description: `${METADATA.meaning} Empty if none was sent. It never changes, except that it is erased with the buyer's personal data.`,
  examples: METADATA.examples,
});

export const noteField = nullable(
  Type.String(),
  `${NOTE.meaning} Null if none was sent. It never changes, except that it is erased with the buyer's personal data.`,
);

const METADATA_KEYS_MAX = 20;

export const metadataRequestField = Type.Optional(
  Type.Unsafe<Metadata>({
    type: "object",
    maxProperties: METADATA_KEYS_MAX,
    propertyNames: { type: "string", minLength: 1, maxLength: 40, format: "text" },
    additionalProperties: { type: "string", maxLength: 500, format: "text" },
    description: `${METADATA.meaning} Up to 20 keys of 1 to 40 characters, with values of up to 500 characters. It is part of the request: a retry must contain the same. An empty object counts as absent.`,
    examples: METADATA.examples,
  }),
);

export const noteRequestField = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 1_000,
    format: "text",
    description: `${NOTE.meaning} It is part of the request: a retry must contain the same.`,
    examples: [...NOTE.examples],
  }),
);
