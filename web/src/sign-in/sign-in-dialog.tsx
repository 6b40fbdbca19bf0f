import { Button, Divider, Modal, PasswordInput, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../api/client.ts";
import { meQuery, useMe } from "../api/me.ts";
import { hasPasskeys } from "../api/passkeys.ts";
import { read } from "../api/read.ts";
import type { OpenGate } from "../api/sign-in-gate.ts";
import { useApiForm } from "../ui/form/use-api-form.ts";
import { ProblemMessage } from "../ui/problem-message.tsx";
import { CodeFields, noCode, PasskeyButton, SignInProblem } from "./sign-in-parts.tsx";
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

type Props = { readonly onConfirmed: () => void };

/** Asks the person who is signed in for a proof: its password, a code of its device, or a passkey. */
function ConfirmForm({ onConfirmed }: Props) {
  const { t } = useTranslation();
  const { data: account, error, refetch } = useQuery({ ...read("/auth/account"), staleTime: 0 });
  if (error !== null) return <ProblemMessage error={error} retry={() => void refetch()} />;
  if (account === undefined) return <Skeleton height={80} role="status" aria-label={t("ui.loading")} />;
  const { hasPassword, hasSecondFactor } = account;
  const hasPasskey = account.passkeys > 0 && hasPasskeys();
  return (
    <Stack gap="sm">
      {hasPassword && <PasswordProof onConfirmed={onConfirmed} />}
      {!hasPassword && hasSecondFactor && <CodeProof onConfirmed={onConfirmed} />}
      {hasPasskey && (hasPassword || hasSecondFactor) && <Divider label={t("signIn.or")} />}
      {hasPasskey && <PasskeyButton onSignedIn={onConfirmed} />}
      {!hasPassword && <OtherTab onConfirmed={onConfirmed} />}
    </Stack>
  );
}

function PasswordProof({ onConfirmed }: Props) {
  const { t } = useTranslation();
  const { form, submit, problem, isPending } = useApiForm({
    initialValues: { password: "" },
    validate: ({ password }) => (password === "" ? { password: t("ui.required") } : {}),
    run: ({ password }) => dataOf(api.POST("/auth/confirm", { body: { password } })),
    onDone: onConfirmed,
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <PasswordInput
          label={t("signIn.password")}
          autoComplete="current-password"
          visibilityToggleButtonProps={{ "aria-label": t("signIn.showPassword") }}
          data-autofocus
          autoFocus
          {...form.getInputProps("password")}
        />
        {problem !== null && <SignInProblem problem={problem} />}
        <Button type="submit" loading={isPending} fullWidth>
          {t("signIn.confirm")}
        </Button>
      </Stack>
    </form>
  );
}

function CodeProof({ onConfirmed }: Props) {
  const { t } = useTranslation();
  const { form, submit, problem, isPending } = useApiForm({
    initialValues: noCode,
    validate: ({ code }) => (code.trim() === "" ? { code: t("ui.required") } : {}),
    run: ({ code, isBackupCode }) =>
      dataOf(api.POST("/auth/confirm", { body: { code: code.trim(), isBackupCode } })),
    onDone: onConfirmed,
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <CodeFields form={form} />
        {problem !== null && <SignInProblem problem={problem} />}
        <Button type="submit" loading={isPending} fullWidth>
          {t("signIn.confirm")}
        </Button>
      </Stack>
    </form>
  );
}

/** Who signs in by a link or by a provider does so in another tab: this page would be lost. The tabs share the session. */
function OtherTab({ onConfirmed }: Props) {
  const { t } = useTranslation();
  return (
    <>
      <Text size="sm">{t("signIn.otherTab")}</Text>
      <Button variant="default" onClick={onConfirmed} fullWidth>
        {t("signIn.continue")}
      </Button>
    </>
  );
}
