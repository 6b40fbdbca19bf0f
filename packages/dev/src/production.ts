/** Set in a deployment of this service, and by no program of a partner. */
const OF_A_DEPLOYMENT = [
  "BACK_OFFICE_PORT",
  "BACK_OFFICE_URL",
  "ERRORS_BASE_URL",
  "OPERATOR_TOKEN",
  "SELF_SERVICE_TEST_KEYS",
  "WEBHOOK_SECRET_KEYS",
  "WEBHOOK_SOURCES",
];
/** Programs of partners have variables of these names, too. A person who starts the command with one expects that it is used. */
const OF_OTHER_PROGRAMS_TOO = [
  "BASE_URL",
  "DATABASE_URL",
  "OIDC_CLIENT_SECRET",
  "OIDC_ISSUER",
  "SMTP_URL",
  "STRIPE_SECRET_KEY",
  "STRIPE_WEBHOOK_SECRET",
];

/**
 * Why the service must not be started in this environment. Null: it may be. Nothing of the environment ever reaches it, so that it
 * cannot use a real database; but a person who has set it expects something else than a service for tests.
 * @param isCommand false within tests of a partner, whose own program may have a database or a mail server
 */
export function productionReason(
  environment: Readonly<Record<string, string | undefined>>,
  isCommand: boolean,
): string | null {
  const isSet = (name: string) => (environment[name]?.trim() ?? "") !== "";
  if (environment["NODE_ENV"]?.trim() === "production")
    return "NODE_ENV is production, and this is a service for tests. Nothing was started.";
  const set = [...OF_A_DEPLOYMENT, ...(isCommand ? OF_OTHER_PROGRAMS_TOO : [])].filter(isSet);
  if (set.length === 0) return null;
  const names = set.join(", ");
  const unset = isCommand ? `: env ${set.map((name) => `-u ${name}`).join(" ")} npx @partner-orders/dev` : "";
  return `${names} ${set.length === 1 ? "is" : "are"} set. A service for tests has a database, keys and addresses of its own, and takes none from the environment. Nothing was started. Start it without${unset}.`;
}
