import { Type } from "typebox";
import { addNote, NOTES_MAX } from "../../../../orders/notes/add-note.ts";
import { isProblem, notFound } from "../../../../platform/wire/problems.ts";
import { type BackOfficeRoute, everyone, route } from "../../access.ts";
import { describeOrder, findOwner } from "../find-order.ts";
import { orderOperationRow } from "../handle-transition.ts";
import { BackOfficeOrderSchema } from "../order-schemas.ts";

/** Notes of the staff (decision 0138). */
export const noteRoutes: readonly BackOfficeRoute[] = [
  route({
    ...orderOperationRow,
    path: "/api/orders/{id}/notes",
    operationId: "addOrderNote",
    admits: everyone,
    summary: "Add a note to an order",
    description: `A text for the staff who handle the order, in its timeline, in every status. The partner does not see it. At most ${NOTES_MAX} of an order; none of a test order. It cannot be changed; the erasure of the buyer's personal data erases it.`,
    body: Type.Object(
      {
        text: Type.String({
          minLength: 1,
          maxLength: 1_000,
          format: "text",
          description: "The note. All who see the order in the back office see it.",
        }),
      },
      { title: "NoteRequest", description: "A note of the staff." },
    ),
    responses: { 201: { description: "The order with the note.", schema: BackOfficeOrderSchema } },
    problems: ["not-found", "validation-failed", "limit-reached"],
    handle: async ({ caller, params, body, by }, { context }) => {
      const owner = await findOwner(context, caller, params.id);
      if (owner === null) return notFound("order");
      const order = await addNote(context, owner, body.text, by);
      return isProblem(order)
        ? order
        : { status: 201, body: await describeOrder(context, caller, { order, owner }) };
    },
  }),
];
