import { sendsInTheClear } from "../../mail/mailer.ts";
import type { Config } from "../../platform/config.ts";
import { isUnprotected } from "../../platform/database/server-address.ts";
import { type Finding, ok, type Reason, warn } from "./rules.ts";

export type ProductionRisk = { readonly check: string; readonly reason: Reason; readonly message: string };

/** What a configuration accepts that production should not (decision 0073). `serve` warns of it, and `doctor` reports it. */
export function productionRisks({
  databaseUrl,
  smtpUrl,
  webhookAllowPrivateNetworks,
  roles,
  backOfficeUrl,
  trustedProxies,
}: Config): ProductionRisk[] {
  const risks: ProductionRisk[] = [];
  if (databaseUrl === null)
    risks.push({
      check: "embedded PostgreSQL",
      reason: "embedded-postgres",
      message:
        "the embedded PostgreSQL is for trials: set DATABASE_URL to a server that is maintained and backed up",
    });
  else if (isUnprotected(databaseUrl))
    risks.push({
      check: "connection to the database",
      reason: "database-in-the-clear",
      message: "the connection to another host is not encrypted: add sslmode=verify-full to DATABASE_URL",
    });
  if (smtpUrl !== null && sendsInTheClear(smtpUrl))
    risks.push({
      check: "connection to the mail server",
      reason: "mail-in-the-clear",
      message:
        "SMTP_URL permits to send mails to another host without encryption: remove ignoreTLS and requireTLS from it",
    });
  if (webhookAllowPrivateNetworks)
    risks.push({
      check: "destinations of webhooks",
      reason: "private-destinations",
      message:
        "partners can have requests sent into your network: remove WEBHOOK_ALLOW_PRIVATE_NETWORKS, which is for trials",
    });
  // The listener itself speaks no TLS, so a proxy is in front of it.
  if (roles.has("back-office") && backOfficeUrl.startsWith("https:") && trustedProxies.length === 0)
    risks.push({
      check: "addresses of clients",
      reason: "proxies-not-trusted",
      message:
        "behind a proxy all clients have its address, so they share limits of sign-in: set TRUSTED_PROXIES to the addresses of your proxies",
    });
  return risks;
}

/** The checks of a valid configuration. */
export const examineConfig = (config: Config): Finding[] => [
  { check: "configuration", ...ok("all variables are valid") },
  ...productionRisks(config).map(({ check, reason, message }) => ({ check, ...warn(reason, message) })),
];
