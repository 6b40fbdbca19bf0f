import { Type } from "typebox";
import { rotateKey } from "../../../merchants/keys/rotate-key.ts";
import { isProblem, notFound } from "../../../platform/wire/problems.ts";
import { dateTime } from "../../../platform/wire/schemas.ts";
import { andPartner, type BackOfficeRoute, merchantSide, route, seesAsPartner } from "../access.ts";
import { expiryErrors } from "../expiry.ts";
import { rotationFields, rotationOf } from "../tokens/rotation.ts";
import { findKey, KeyIdParams, LIVE_KEYS_ARE_THE_MERCHANTS, NewKeySchema, toWireKey } from "./key-routes.ts";

const RotatedKeySchema = Type.Object(
  {
    ...NewKeySchema.properties,
    previousExpiresAt: dateTime("When the replaced key ends, or has ended."),
  },
  { title: "RotatedKey", description: "A new key of a connection, and the end of the one that it replaces." },
);

/** Keys are replaced without an interruption. Decision 0143. */
export const keyRotationRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/keys/{id}/rotate",
    operationId: "rotateKey",
    admits: andPartner(merchantSide),
    tag: "Keys",
    needsRecentAuthentication: true,
    summary: "Rotate a key",
    description:
      "Issues a key with the same name and mode. The old one stays valid for the overlap, and never longer than before. A key is rotated once: if the response was lost, revoke the new key and issue another one. The body may be omitted. The role `partner` rotates test keys only.",
    params: KeyIdParams,
    body: Type.Object(rotationFields("key"), { title: "KeyRotation", description: "How to replace a key." }),
    responses: { 201: { description: "The new key.", schema: RotatedKeySchema } },
    problems: ["forbidden", "not-found", "key-not-rotatable", "limit-reached", "validation-failed"],
    bodyErrors: async ({ body }, { context }) => expiryErrors(body, context),
    handle: async ({ caller, params, body, by }, { context }) => {
      const key = await findKey(context, caller, params.id);
      if (key === null) return notFound("key");
      if (key.mode === "live" && seesAsPartner(caller, key)) return LIVE_KEYS_ARE_THE_MERCHANTS;
      const made = await rotateKey(context, key.id, key, rotationOf(body), by);
      if (isProblem(made)) return made;
      const previousExpiresAt = made.previousExpiresAt.toISOString();
      return { status: 201, body: { ...toWireKey(made.issued), key: made.key, previousExpiresAt } };
    },
  }),
];
