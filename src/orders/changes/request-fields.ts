import { Type } from "typebox";
import { LINES_MAX } from "../../lifecycle/lines.ts";

// Fields of requests that change an order. Test orders and real ones have the same limits.

export const holdReasonsField = (description: string, example: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 100, format: "text" }), {
    minItems: 1,
    maxItems: 20,
    description,
    examples: [[example]],
  });

export const lineIdsField = (description: string) =>
  Type.Array(Type.String({ maxLength: 255, format: "text", description: "Id of a line of the order." }), {
    maxItems: 100,
    description,
  });

export const lineQuantitiesField = (description: string) =>
  Type.Array(
    Type.Object(
      {
        lineId: Type.String({ maxLength: 255, format: "text", description: "Id of a line of the order." }),
        quantity: Type.Integer({ minimum: 1, maximum: 100_000, description: "Number of units." }),
      },
      { title: "LineQuantity", description: "Some or all units of a line." },
    ),
    { maxItems: LINES_MAX, description },
  );

export const shipmentIdField = (description: string) =>
  Type.String({ maxLength: 255, format: "text", description });
