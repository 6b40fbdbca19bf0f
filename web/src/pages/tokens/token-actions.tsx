import { Group } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import type { Token } from "../../api/schema.d.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { RotateAction } from "../../ui/form/rotate-action.tsx";

type Props = {
  readonly of: Token;
  /** Shows the text of a new token. The row of the old one may leave the list. */
  readonly onToken: (text: string) => void;
};

/** The actions on a token that is still valid. A token is replaced once. */
export function TokenActions({ of, onToken }: Props) {
  const { revokedAt, expiresAt, replacedBy } = of;
  if (revokedAt !== null || (expiresAt !== null && new Date(expiresAt) <= new Date())) return null;
  return (
    <Group gap={6} justify="flex-end">
      {replacedBy === null && <RotateToken of={of} onToken={onToken} />}
      <RevokeToken of={of} />
    </Group>
  );
}

function RotateToken({ of: { id, name }, onToken }: Props) {
  const { t } = useTranslation();
  return (
    <RotateAction
      label={t("tokens.rotate")}
      effect={t("tokens.rotateEffect", { name })}
      done={t("tokens.rotatedDone")}
      overlap={{ label: t("tokens.overlapHours"), help: t("tokens.overlapHelp") }}
      run={async (overlapHours) => {
        const rotated = await dataOf(
          api.POST("/api/tokens/{id}/rotate", { params: { path: { id } }, body: { overlapHours } }),
        );
        onToken(rotated.token);
      }}
    />
  );
}

function RevokeToken({ of: { id, name } }: { of: Token }) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("tokens.revoke")}
      effect={t("tokens.revokeEffect", { name })}
      done={t("tokens.revokedDone")}
      isDanger
      run={() => dataOf(api.POST("/api/tokens/{id}/revoke", { params: { path: { id } } }))}
    />
  );
}
