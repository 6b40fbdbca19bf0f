import { Type } from "typebox";

/** Money in a response: a decimal string, because JSON parsers may round a number. */
export const MoneySchema = Type.Object(
  { amount: Type.String({ examples: ["12.50"] }), currency: Type.String({ examples: ["EUR"] }) },
  { title: "Money" },
);

/** Money in a request. */
export const MoneyRequestSchema = Type.Object(
  {
    amount: Type.String({ format: "amount", description: "Decimal amount.", examples: ["12.50"] }),
    currency: Type.String({ format: "currency", description: "ISO 4217 code.", examples: ["EUR"] }),
  },
  { title: "MoneyRequest" },
);
