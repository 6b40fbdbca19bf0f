import { Type } from "typebox";

/** Money in a response: a decimal string, because JSON parsers may round a number. */
export const MoneySchema = Type.Object(
  {
    amount: Type.String({
      description: "Decimal amount, with as many decimals as the currency has; negative with a leading `-`.",
      examples: ["12.50"],
    }),
    currency: Type.String({ description: "ISO 4217 code.", examples: ["EUR"] }),
  },
  { title: "Money", description: "An amount of money." },
);

/** Money in a request. */
export const MoneyRequestSchema = Type.Object(
  {
    amount: Type.String({
      format: "amount",
      description: "Decimal amount, with at most as many decimals as the currency has.",
      examples: ["12.50"],
    }),
    currency: Type.String({ format: "currency", description: "ISO 4217 code.", examples: ["EUR"] }),
  },
  { title: "MoneyRequest", description: "An amount of money." },
);
