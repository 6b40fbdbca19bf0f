import { genericOAuth } from "better-auth/plugins";
import type { Config } from "../../platform/config.ts";

export const OIDC_PROVIDER = "oidc";

/**
 * Sign-in by the identity provider of the configuration. There is no sign-up: a person must have been invited, and is
 * found by the subject, or the first time by an address that the provider has verified. ID tokens are verified with the
 * provider's keys.
 */
export const oidcPlugins = ({ oidcIssuer, oidcClientId, oidcClientSecret, oidcName }: Config) =>
  oidcIssuer === null || oidcClientId === null || oidcClientSecret === null
    ? []
    : [
        genericOAuth({
          config: [
            {
              providerId: OIDC_PROVIDER,
              name: oidcName,
              discoveryUrl: `${oidcIssuer}/.well-known/openid-configuration`,
              clientId: oidcClientId,
              clientSecret: oidcClientSecret,
              scopes: ["openid", "email", "profile"],
              pkce: true,
              requireIdTokenVerification: true,
              disableSignUp: true,
              disableImplicitSignUp: true,
            },
          ],
        }),
      ];
