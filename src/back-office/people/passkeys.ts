import { Type } from "typebox";
import type { Route } from "../../http/route.ts";
import {
  addPasskey,
  listPasskeys,
  PASSKEYS_MAX,
  passkeyRegistration,
  removePasskey,
} from "../../people/passkeys.ts";
import type { People } from "../../people/person.ts";
import { parseUuid } from "../../platform/ids.ts";
import { notFound } from "../../platform/wire/problems.ts";
import { shortText } from "../../platform/wire/schemas.ts";
import { PasskeyListSchema } from "./account.ts";
import {
  cookieHeaders,
  recentSessionOf,
  route,
  sessionOf,
  signInFailed,
  WebAuthnOptionsSchema,
  webAuthnResponse,
} from "./sign-in-wire.ts";

const TAG = "Own account";

/** The passkeys of the person who has signed in. */
export const passkeyRoutes: readonly Route<People>[] = [
  route({
    method: "GET",
    path: "/auth/passkeys",
    operationId: "listPasskeys",
    tag: TAG,
    summary: "List your passkeys",
    responses: { 200: { description: "All of them, oldest first.", schema: PasskeyListSchema } },
    problems: [],
    handle: async ({ caller }, people) => {
      const opened = await sessionOf(people, caller);
      if ("code" in opened) return opened;
      const passkeys = await listPasskeys(people.db, opened.person.id);
      const data = passkeys.map(({ id, name, createdAt }) => ({
        id,
        name,
        createdAt: createdAt.toISOString(),
      }));
      return { status: 200, body: { data, nextCursor: null } };
    },
  }),
  route({
    method: "POST",
    path: "/auth/passkeys/options",
    operationId: "startPasskey",
    tag: TAG,
    summary: "Begin to make a passkey",
    description:
      "What the browser needs to make a passkey. It sets a cookie with the challenge, for five minutes. It is good once.",
    responses: { 200: { description: "Options of WebAuthn.", schema: WebAuthnOptionsSchema } },
    problems: ["recent-authentication-required", "forbidden"],
    handle: async ({ caller }, people) => {
      const opened = await recentSessionOf(people, caller);
      if ("code" in opened) return opened;
      const { options, cookie } = await passkeyRegistration(people, opened);
      return { status: 200, body: { options }, headers: cookieHeaders(cookie) };
    },
  }),
  route({
    method: "POST",
    path: "/auth/passkeys",
    operationId: "addPasskey",
    tag: TAG,
    summary: "Add a passkey",
    description: `Needs recent authentication. A person has at most ${PASSKEYS_MAX}.`,
    body: Type.Object(
      { name: shortText("How you recognize it.", ["Laptop"]), response: webAuthnResponse },
      { title: "NewPasskey", description: "A passkey that the browser has made." },
    ),
    responses: { 204: { description: "The passkey can be used." } },
    problems: [
      "sign-in-failed",
      "limit-reached",
      "recent-authentication-required",
      "validation-failed",
      "forbidden",
    ],
    handle: async ({ caller, body }, people) => {
      const opened = await recentSessionOf(people, caller);
      if ("code" in opened) return opened;
      const outcome = await addPasskey(people, opened, body, caller);
      if (outcome === "failed")
        return signInFailed(
          "The passkey does not fit the request for it, or that is older than five minutes.",
        );
      return outcome === "added"
        ? { status: 204 }
        : {
            code: "limit-reached",
            detail: `A person has at most ${PASSKEYS_MAX} passkeys. Remove one first.`,
            members: { limit: "passkeys", maximum: PASSKEYS_MAX },
          };
    },
  }),
  route({
    method: "DELETE",
    path: "/auth/passkeys/{id}",
    operationId: "removePasskey",
    tag: TAG,
    summary: "Remove a passkey",
    description:
      "Needs recent authentication. All other sessions of the person end: the device has perhaps opened one.",
    params: Type.Object({ id: Type.String({ description: "Id of the passkey." }) }),
    responses: { 204: { description: "The passkey is no longer accepted." } },
    problems: ["not-found", "recent-authentication-required", "forbidden"],
    handle: async ({ caller, params }, people) => {
      const opened = await recentSessionOf(people, caller);
      if ("code" in opened) return opened;
      const id = parseUuid(params.id);
      const isRemoved = id !== null && (await removePasskey(people, opened, id, caller));
      return isRemoved ? { status: 204 } : notFound("passkey");
    },
  }),
];
