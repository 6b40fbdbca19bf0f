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
    // For another person this read fails, and the page is loaded again (docs/design/people.md, "The person of a page").
    const isSame = JSON.stringify(me.grants) === JSON.stringify(before.grants);
    open.resolve(isSame);
    if (!isSame) location.reload();
  };
  // The requests that wait then show their own problem.
  const onSignedIn = () => void proceed().catch(() => open.resolve(false));
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
          <ConfirmForm onConfirmed={onSignedIn} />
        ) : (
          <SignInWays onSignedIn={onSignedIn} />
        )}
      </Stack>
    </Modal>
  );
}
