import { type Static, Type } from "typebox";
import type { Proof } from "../../../people/own-account/confirm-person.ts";
import { PASSWORD_LENGTH_MAX } from "../../../people/person.ts";
import { dateTime, idField, noNextCursor } from "../../../platform/wire/schemas.ts";
import { codeOf } from "./sign-in-bodies.ts";

export const AccountSchema = Type.Object(
  {
    id: idField("per", "Id of the person, set by the service."),
    name: Type.String({ description: "Name that timelines and the audit log show." }),
    email: Type.String({ description: "Mail address of the person, in lower case." }),
    hasPassword: Type.Boolean({ description: "Whether the person has a password." }),
    hasSecondFactor: Type.Boolean({ description: "Whether a one-time code must follow the password." }),
    hasSingleSignOn: Type.Boolean({
      description: "Whether the person has signed in by the identity provider.",
    }),
    passkeys: Type.Integer({ description: "How many passkeys the person has." }),
    session: Type.Object(
      {
        id: idField("ses", "Id of the session of this browser."),
        endsAt: dateTime("When the session ends if it is not used again."),
        recentUntil: dateTime("Until then, what concerns keys, secrets and money needs no confirmation."),
      },
      { title: "OwnSession", description: "The session of this browser." },
    ),
  },
  { title: "OwnAccount", description: "A person, and how it signs in." },
);

const password = Type.String({
  minLength: 1,
  maxLength: PASSWORD_LENGTH_MAX,
  description: "The person's password. Required if it has one.",
});

export const passwordField = Type.Object(
  { password: Type.Optional(password) },
  { title: "CurrentPassword", description: "The password of a person who has one." },
);

export const ProofSchema = Type.Object(
  {
    password: Type.Optional(password),
    code: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 40,
        examples: ["123456"],
        description: "Instead of the password: six digits of the person's device, or a backup code.",
      }),
    ),
    isBackupCode: Type.Optional(
      Type.Boolean({ default: false, description: "Whether the code is a backup code." }),
    ),
  },
  { title: "Confirmation", description: "A password, or a one-time code." },
);

/** A password takes precedence. Nothing at all is a wrong password. */
export const proofOf = ({ password: sent, code, isBackupCode }: Static<typeof ProofSchema>): Proof =>
  sent === undefined && code !== undefined
    ? codeOf({ code, ...(isBackupCode !== undefined && { isBackupCode }) })
    : { password: sent ?? "" };

export const PasskeyListSchema = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: "Id of the passkey, set by the service." }),
          name: Type.String({ description: "How the person recognizes it, set when it was made." }),
          createdAt: dateTime("When it was made."),
        },
        { title: "Passkey", description: "A passkey of a person, without its keys." },
      ),
      { description: "All passkeys, oldest first." },
    ),
    nextCursor: noNextCursor,
  },
  { title: "PasskeyList", description: "The passkeys of a person." },
);

const backupCodes = Type.Array(Type.String(), {
  description: "Codes that are good once each, if the device is lost. They are shown only in this response.",
});

export const BackupCodesSchema = Type.Object(
  { backupCodes },
  { title: "BackupCodes", description: "New backup codes." },
);

export const SecondFactorSchema = Type.Object(
  {
    uri: Type.String({
      description:
        "`otpauth://` address with the secret, for a QR code. It is returned only in this response.",
    }),
    backupCodes,
  },
  { title: "SecondFactor", description: "What a device needs to make one-time codes." },
);
