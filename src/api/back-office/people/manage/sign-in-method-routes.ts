import { makeSignInLink, unlinkSingleSignOn } from "../../../../people/manage/change-person.ts";
import { removeSignInMethods } from "../../../../people/manage/remove-sign-in-methods.ts";
import { isProblem } from "../../../../platform/wire/problems.ts";
import { type BackOfficeRoute, operatorOnly, route } from "../../access.ts";
import { changeNamed, findPerson, missing, PersonIdParams } from "./named-person.ts";
import { aPerson, SignInLinkSchema } from "./person-wire.ts";

const TAG = "People";

/** What the operator does with the ways in which a person signs in. */
export const signInMethodRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/people/{id}/unlink-single-sign-on",
    operationId: "unlinkSingleSignOn",
    admits: operatorOnly,
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Unlink a person from the identity provider",
    description:
      "For a person whose account at the identity provider was made again. All sessions of the person end. The next account that signs in with the person's mail address is linked. Password, passkeys and one-time codes stay: if another human has used the account, remove all ways to sign in instead. Repeating the request has no further effect.",
    params: PersonIdParams,
    responses: aPerson("The person."),
    problems: ["not-found"],
    handle: (request, { context }) =>
      changeNamed(context, request, (change) => unlinkSingleSignOn(context, change)),
  }),
  route({
    method: "POST",
    path: "/api/people/{id}/remove-sign-in-methods",
    operationId: "removeSignInMethods",
    admits: operatorOnly,
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Remove all ways in which a person signs in",
    description:
      "For a person as whom another human has signed in: it may have added a password or a passkey of its own. Removes the password, all passkeys, the one-time codes and the account of the identity provider. All sessions end, and all links that were not used. The person then sets a new password with a link by mail, signs in by the identity provider, or with a link of the operator. Who receives the person's mails can do that, so change the mail address first if it is that of the other human. Repeating the request has no further effect.",
    params: PersonIdParams,
    responses: aPerson("The person."),
    problems: ["not-found"],
    handle: (request, { context }) =>
      changeNamed(context, request, (change) => removeSignInMethods(context, change)),
  }),
  route({
    method: "POST",
    path: "/api/people/{id}/sign-in-link",
    operationId: "makeSignInLink",
    admits: operatorOnly,
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Make a link to sign in with",
    description:
      "For a person who can neither sign in nor receive mail. It works once within an hour, without a second factor, so give it to that person alone.",
    params: PersonIdParams,
    responses: { 201: { description: "The link.", schema: SignInLinkSchema } },
    problems: ["not-found", "person-state"],
    handle: async ({ caller, params, by }, { context }) => {
      const person = await findPerson(context, caller, params.id);
      const link =
        person === null ? null : await makeSignInLink(context, { personId: person.id, giver: caller, by });
      if (link === null) return missing;
      if (isProblem(link)) return link;
      return { status: 201, body: { url: link.url, expiresAt: link.expiresAt.toISOString() } };
    },
  }),
];
