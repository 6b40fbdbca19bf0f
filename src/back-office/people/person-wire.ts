import { type Static, Type } from "typebox";
import { EMAIL_LENGTH_MAX, grantsVersion, PERSON_STATES, type Person, stateOf } from "../../people/person.ts";
import { toTypeId } from "../../platform/ids.ts";
import { versionField } from "../../platform/wire/content-version.ts";
import { dateTime, describedAs, enumeration, idField, nullableTime } from "../../platform/wire/schemas.ts";
import { ActorSchema, toWireActor } from "../actor-schema.ts";
import { GrantSchema, toWireGrant } from "../grants.ts";

export const StateSchema = enumeration(
  "PersonState",
  PERSON_STATES,
  "`invited`: has never signed in. `active`: can sign in. `disabled`: cannot sign in.",
);

export const PersonSchema = Type.Object(
  {
    id: idField("per", "Id of the person, set by the service."),
    name: Type.String({ description: "Name that timelines and the audit log show." }),
    email: Type.String({
      description: "Mail address, in lower case. Invitations and resets are sent to it.",
    }),
    state: describedAs(StateSchema, "Whether the person can sign in."),
    grants: Type.Array(GrantSchema, {
      description:
        "All roles of the person, and what each is for. The person may do what any of them allows.",
    }),
    grantsVersion: versionField("these grants"),
    hasSecondFactor: Type.Boolean({ description: "Whether a one-time code must follow the password." }),
    hasSingleSignOn: Type.Boolean({
      description: "Whether an account of the identity provider is linked with the person.",
    }),
    createdBy: describedAs(ActorSchema, "Who invited the person."),
    createdAt: dateTime("When the person was invited."),
    acceptedAt: nullableTime("When the person first signed in. Null if it never did."),
    lastSignedInAt: nullableTime("When the person last signed in. Null if it never did."),
    disabledAt: nullableTime("Since when the person cannot sign in. Null if it can."),
  },
  { title: "Person", description: "A person who signs in to the back office." },
);

/** The response of a route that returns a person. */
export const aPerson = (description: string) => ({ 200: { description, schema: PersonSchema } });

export const PersonEmailSchema = Type.String({
  format: "email",
  minLength: 3,
  maxLength: EMAIL_LENGTH_MAX,
  description: "Mail address of the person. Upper and lower case are the same.",
});

export const SignInLinkSchema = Type.Object(
  {
    url: Type.String({
      description: "The link. It is returned only in this response.",
      examples: ["http://localhost:8081/sign-in#token=pol_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"],
    }),
    expiresAt: dateTime("When the link expires."),
  },
  { title: "SignInLink", description: "A link with which a person signs in once." },
);

export const toWirePerson = (person: Person): Static<typeof PersonSchema> => ({
  id: toTypeId("per", person.id),
  name: person.name,
  email: person.email,
  state: stateOf(person),
  grants: person.grants.map(toWireGrant),
  grantsVersion: grantsVersion(person.grants),
  hasSecondFactor: person.hasTwoFactor,
  hasSingleSignOn: person.hasSingleSignOn,
  createdBy: toWireActor(person.createdBy),
  createdAt: person.createdAt.toISOString(),
  acceptedAt: person.acceptedAt?.toISOString() ?? null,
  lastSignedInAt: person.lastSignedInAt?.toISOString() ?? null,
  disabledAt: person.disabledAt?.toISOString() ?? null,
});
