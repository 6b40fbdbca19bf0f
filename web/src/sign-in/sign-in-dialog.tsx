import { Modal, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { meQuery, useMe } from "../api/me.ts";
import type { OpenGate } from "../api/sign-in-gate.ts";
import { ConfirmForm } from "./confirm-form.tsx";
import { SignInWays } from "./sign-in-ways.tsx";

/**
 * Asks for a sign-in over the page when a request needs one. What the person has typed stays, and the requests that wait
 * are sent afterwards.
 */
export function SignInDialog({ open }: { open: OpenGate }) {
  const { t } = useTranslation();
  const queryClient = useQueryClient();
  const before = useMe();
  const proceed = async () => {
    const me = await queryClient.fetchQuery({ ...meQuery(), staleTime: 0 });
    // The page shows what the other person was allowed to see.
    if (me.personId !== before.personId || JSON.stringify(me.grants) !== JSON.stringify(before.grants))
      location.reload();
    open.resolve(true);
  };
  return (
    <Modal
      opened
      onClose={() => open.resolve(false)}
      title={t(`signIn.${open.need}Title`)}
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": t("ui.close") }}
      zIndex={1_000}
      centered
    >
      <Stack gap="sm">
        <Text size="sm">{t(`signIn.${open.need}About`)}</Text>
        {open.need === "recent" ? (
          <ConfirmForm onConfirmed={() => void proceed()} />
        ) : (
          <SignInWays onSignedIn={() => void proceed()} />
        )}
      </Stack>
    </Modal>
  );
}
