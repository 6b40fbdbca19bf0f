import { useTranslation } from "react-i18next";
import type { Token } from "../../api/schema.d.ts";
import { Pill } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";

/** Whether a token is valid, and how long. */
export function TokenState({ of: { revokedAt, expiresAt, replacedBy } }: { of: Token }) {
  const { t } = useTranslation();
  if (revokedAt !== null) return <Pill>{t("tokens.revoked")}</Pill>;
  if (expiresAt === null) return <Pill tone="success">{t("tokens.valid")}</Pill>;
  const isOver = new Date(expiresAt) <= new Date();
  const text = isOver ? "tokens.expired" : replacedBy === null ? "tokens.validUntil" : "tokens.replacedUntil";
  return (
    <>
      <Pill tone={isOver ? "neutral" : replacedBy === null ? "success" : "warning"}>{t(text)}</Pill>{" "}
      <Time at={expiresAt} />
    </>
  );
}
