import { Button, Center, Code, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { SignInProblem } from "../../sign-in/sign-in-problem.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { useApiForm } from "../../ui/form/use-api-form.ts";
import { QrCode } from "../../ui/qr-code.tsx";

/** What the service has made for the person's device. */
export type NewFactor = { readonly uri: string; readonly backupCodes: readonly string[] };

type Props = {
  /** Null: nothing is shown. */
  readonly factor: NewFactor | null;
  readonly onClose: () => void;
  readonly onVerified: (factor: NewFactor) => void;
};

/** Shows the secret to the person's device, and asks for a code of it. Before that nothing has changed. */
export function VerifyDevice({ factor, onClose, onVerified }: Props) {
  const { t } = useTranslation();
  return (
    <Modal
      opened={factor !== null}
      onClose={onClose}
      title={t("secondFactor.setUp")}
      centered
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": t("ui.close") }}
    >
      {factor !== null && <Device factor={factor} onClose={onClose} onVerified={onVerified} />}
    </Modal>
  );
}

function Device({ factor, onClose, onVerified }: Props & { factor: NewFactor }) {
  const { t } = useTranslation();
  const secret = new URL(factor.uri).searchParams.get("secret") ?? "";
  const { form, submit, problem, isPending } = useApiForm({
    initialValues: { code: "" },
    validate: ({ code }) => (/^\d{6}$/.test(digitsOf(code)) ? {} : { code: t("secondFactor.sixDigits") }),
    run: ({ code }) => dataOf(api.POST("/auth/second-factor/verify", { body: { code: digitsOf(code) } })),
    done: t("secondFactor.done"),
    onDone: () => onVerified(factor),
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text size="sm">{t("secondFactor.scan")}</Text>
        <Center>
          <QrCode of={factor.uri} label={t("secondFactor.qrCode")} />
        </Center>
        <Stack gap={4}>
          <Text size="sm">{t("secondFactor.orType")}</Text>
          <Group gap="xs" wrap="nowrap">
            <Code style={{ overflowWrap: "anywhere" }}>{secret}</Code>
            <CopyButton value={secret} of={t("secondFactor.secret")} />
          </Group>
        </Stack>
        <TextInput
          label={t("signIn.code")}
          description={t("secondFactor.codeHelp")}
          autoComplete="one-time-code"
          inputMode="numeric"
          data-autofocus
          {...form.getInputProps("code")}
        />
        {problem !== null && <SignInProblem problem={problem} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t("ui.cancel")}
          </Button>
          <Button type="submit" loading={isPending}>
            {t("secondFactor.turnOn")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Devices show codes in groups. */
const digitsOf = (code: string): string => code.replaceAll(/\s/g, "");
