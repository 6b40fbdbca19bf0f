import { Group, NumberInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import type { Token } from "../../api/schema.d.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";

type Props = {
  readonly of: Token;
  /** Shows the text of a new token. The row of the old one may leave the list. */
  readonly onToken: (text: string) => void;
};

/** What can be done with a token that is still valid. A token is replaced once. */
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
    <ConfirmAction<{ overlapHours: number | string }>
      label={t("tokens.rotate")}
      effect={t("tokens.rotateEffect", { name })}
      done={t("tokens.rotatedDone")}
      initialValues={{ overlapHours: 24 }}
      fields={(form) => (
        <NumberInput
          label={t("tokens.overlapHours")}
          description={t("tokens.overlapHelp")}
          min={0}
          max={168}
          data-autofocus
          {...form.getInputProps("overlapHours")}
        />
      )}
      run={async ({ overlapHours }) => {
        const rotated = await dataOf(
          api.POST("/api/tokens/{id}/rotate", {
            params: { path: { id } },
            body: { overlapHours: Number(overlapHours) },
          }),
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
