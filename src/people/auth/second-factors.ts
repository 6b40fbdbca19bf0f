import { passkey } from "@better-auth/passkey";
import { APIError } from "better-auth/api";
import { twoFactor } from "better-auth/plugins";
import type { Config } from "../../platform/config.ts";

/** One-time codes of RFC 6238, with backup codes. Our routes decide who may change them. */
export const secondFactor = () =>
  twoFactor({
    issuer: "Partner Orders",
    twoFactorTable: "person_two_factors",
    allowPasswordless: true,
    schema: {
      user: { fields: { twoFactorEnabled: "two_factor_enabled" } },
      twoFactor: {
        fields: {
          userId: "person_id",
          backupCodes: "backup_codes",
          failedVerificationCount: "failed_verification_count",
          lockedUntil: "locked_until",
        },
      },
    },
  });

/** Passkeys need https, or localhost, and are for the host of BACK_OFFICE_URL alone. */
export const passkeys = (config: Pick<Config, "backOfficeUrl">) =>
  passkey({
    rpID: new URL(config.backOfficeUrl).hostname,
    rpName: "Partner Orders",
    // A device alone proves little: it must have verified the person, by a finger or a code. Otherwise the passkey is not
    // even stored, since it could never sign in.
    registration: {
      afterVerification: async ({ verification }) => {
        if (!verification.registrationInfo?.userVerified) throw notVerified();
      },
    },
    authentication: {
      afterVerification: async ({ verification }) => {
        if (!verification.authenticationInfo.userVerified) throw notVerified();
      },
    },
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    schema: {
      passkey: {
        modelName: "person_passkeys",
        fields: {
          userId: "person_id",
          publicKey: "public_key",
          credentialID: "credential_id",
          deviceType: "device_type",
          backedUp: "backed_up",
          createdAt: "created_at",
        },
      },
    },
  });

const notVerified = () => new APIError("UNAUTHORIZED", { code: "AUTHENTICATION_FAILED" });
