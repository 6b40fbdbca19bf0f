import {
  Button,
  Center,
  Code,
  Group,
  Modal,
  PasswordInput,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useMe } from "../../api/me.ts";
import { createPasskey, hasPasskeys } from "../../api/passkeys.ts";
import { read } from "../../api/read.ts";
import type { Session } from "../../api/schema.d.ts";
import { useChange } from "../../api/use-change.ts";
import { NewPasswordForm, SignInProblem } from "../../sign-in/sign-in-parts.tsx";
import { browserName } from "../../text/words.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { filled, useApiForm } from "../../ui/form/use-api-form.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { QrCode } from "../../ui/qr-code.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";

/** How a person signs in, and where it is signed in. */
export function AccountPage() {
  const { t } = useTranslation();
  const me = useMe();
  return (
    <Page title={t("account.title")} about={`${me.name}${me.email === null ? "" : ` · ${me.email}`}`}>
      <Stack gap="md">
        <Sessions />
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <Stack gap="md">
            <Passkeys />
            <SecondFactor />
          </Stack>
          <Section title={t("account.password")}>
            <Text size="sm" c="dimmed">
              {t("account.passwordAbout")}
            </Text>
            <NewPasswordForm
              run={(password) => dataOf(api.POST("/auth/password", { body: { password } }))}
              onDone={() => undefined}
              done={t("signIn.passwordSet")}
            />
          </Section>
        </SimpleGrid>
      </Stack>
    </Page>
  );
}

/** The passkeys of the person. */
function Passkeys() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(read("/auth/passkeys"));
  return (
    <Section title={t("account.passkeys")} actions={hasPasskeys() && <AddPasskey />}>
      <Text size="sm" c="dimmed">
        {data?.data.length === 0 ? t("account.noPasskeys") : null} {t("account.passkeysAbout")}
      </Text>
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data !== undefined && data.data.length > 0 && (
        <DataTable
          label={t("account.passkeys")}
          rows={data.data}
          rowKey={({ id }) => id}
          columns={[
            { name: t("account.passkeyName"), cell: ({ name }) => name },
            { name: t("account.created"), cell: ({ createdAt }) => <Time at={createdAt} /> },
            { name: t("account.removePasskey"), align: "right", cell: ({ id }) => <RemovePasskey id={id} /> },
          ]}
        />
      )}
    </Section>
  );
}

function AddPasskey() {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("account.addPasskey")}
      effect={t("account.passkeysAbout")}
      done={t("account.passkeyAdded")}
      initialValues={{ name: "" }}
      validate={({ name }) => (name.trim() === "" ? { name: t("ui.required") } : {})}
      fields={(form) => (
        <TextInput
          label={t("account.passkeyName")}
          description={t("account.passkeyNameHelp")}
          maxLength={100}
          data-autofocus
          {...form.getInputProps("name")}
        />
      )}
      run={({ name }) => createPasskey(name.trim())}
    />
  );
}

function RemovePasskey({ id }: { id: string }) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("account.removePasskey")}
      effect={t("account.removePasskeyAbout")}
      done={t("account.passkeyRemoved")}
      isDanger
      run={() => dataOf(api.DELETE("/auth/passkeys/{id}", { params: { path: { id } } }))}
    />
  );
}

/** One-time codes: set up with a device, with backup codes for when it is lost. */
function SecondFactor() {
  const { t } = useTranslation();
  const { data: account, error, refetch } = useQuery(read("/auth/account"));
  // Kept here: what is offered changes as soon as the service requires codes, and the dialogs must stay.
  const [factor, setFactor] = useState<NewFactor | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const isOn = account?.hasSecondFactor ?? false;
  const asksPassword = account?.hasPassword ?? false;
  return (
    <Section
      title={t("secondFactor.title")}
      actions={
        account !== undefined && (
          <Group gap="xs">
            {isOn ? (
              <>
                <RenewCodes asksPassword={asksPassword} onCodes={setCodes} />
                <Remove asksPassword={asksPassword} />
              </>
            ) : (
              <Start asksPassword={asksPassword} onStarted={setFactor} />
            )}
          </Group>
        )
      }
    >
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {account !== undefined && (
        <div>
          <Pill tone={isOn ? "success" : "neutral"}>{t(isOn ? "secondFactor.on" : "secondFactor.off")}</Pill>
        </div>
      )}
      <Text size="sm" c="dimmed">
        {t(isOn ? "secondFactor.aboutOn" : "secondFactor.about")}
      </Text>
      <VerifyDevice
        factor={factor}
        onClose={() => setFactor(null)}
        onVerified={({ backupCodes }) => {
          setFactor(null);
          setCodes(backupCodes);
        }}
      />
      <ShownOnce
        title={t("secondFactor.backupCodes")}
        about={t("secondFactor.backupCodesAbout")}
        value={codes?.join("\n") ?? null}
        onClose={() => setCodes(null)}
      />
    </Section>
  );
}

type Values = { password: string };

/** The service asks for the password of a person who has one, beside the recent sign-in. */
function usePasswordField(asksPassword: boolean) {
  const { t } = useTranslation();
  return {
    initialValues: { password: "" },
    validate: ({ password }: Values) =>
      asksPassword && password === "" ? { password: t("ui.required") } : {},
    ...(asksPassword && {
      fields: (form: UseFormReturnType<Values>) => (
        <PasswordInput
          label={t("signIn.password")}
          autoComplete="current-password"
          visibilityToggleButtonProps={{ "aria-label": t("signIn.showPassword") }}
          data-autofocus
          {...form.getInputProps("password")}
        />
      ),
    }),
  };
}

type StartProps = { readonly asksPassword: boolean; readonly onStarted: (factor: NewFactor) => void };

function Start({ asksPassword, onStarted }: StartProps) {
  const { t } = useTranslation();
  return (
    <ConfirmAction<Values>
      label={t("secondFactor.setUp")}
      effect={t("secondFactor.setUpEffect")}
      confirm={t("signIn.continue")}
      {...usePasswordField(asksPassword)}
      run={async (values) =>
        onStarted(await dataOf(api.POST("/auth/second-factor", { body: filled(values) })))
      }
    />
  );
}

type RenewProps = { readonly asksPassword: boolean; readonly onCodes: (codes: readonly string[]) => void };

function RenewCodes({ asksPassword, onCodes }: RenewProps) {
  const { t } = useTranslation();
  return (
    <ConfirmAction<Values>
      label={t("secondFactor.renew")}
      effect={t("secondFactor.renewEffect")}
      {...usePasswordField(asksPassword)}
      run={async (values) => {
        const renewed = await dataOf(api.POST("/auth/second-factor/backup-codes", { body: filled(values) }));
        onCodes(renewed.backupCodes);
      }}
    />
  );
}

function Remove({ asksPassword }: { asksPassword: boolean }) {
  const { t } = useTranslation();
  return (
    <ConfirmAction<Values>
      label={t("secondFactor.remove")}
      effect={t("secondFactor.removeEffect")}
      done={t("secondFactor.removed")}
      isDanger
      {...usePasswordField(asksPassword)}
      run={(values) => dataOf(api.POST("/auth/second-factor/remove", { body: filled(values) }))}
    />
  );
}

/** Where the person is signed in. */
function Sessions() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(read("/api/me/sessions"));
  const others = data?.data.some(({ isCurrent }) => !isCurrent) ?? false;
  return (
    <Section title={t("account.sessions")} actions={others && <EndOthers />}>
      <Text size="sm" c="dimmed">
        {t("account.sessionsAbout")}
      </Text>
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data !== undefined && (
        <DataTable
          label={t("account.sessions")}
          rows={data.data}
          rowKey={({ id }) => id}
          columns={[
            {
              name: t("account.browser"),
              cell: ({ userAgent, isCurrent }) => (
                <Group gap={6}>
                  {browserName(userAgent) ?? t("account.unknownBrowser")}
                  {isCurrent && <Pill tone="success">{t("account.current")}</Pill>}
                </Group>
              ),
            },
            { name: t("account.address"), cell: ({ ipAddress }) => ipAddress ?? "–" },
            {
              name: t("account.signedIn"),
              cell: ({ signedInAt }) => <Time at={signedInAt} />,
              isMinor: true,
            },
            { name: t("account.seen"), cell: ({ seenAt }) => <Time at={seenAt} as="relative" /> },
            {
              name: t("account.endSession"),
              align: "right",
              cell: (session) => <EndSession session={session} />,
            },
          ]}
        />
      )}
    </Section>
  );
}

function EndSession({ session: { id, isCurrent } }: { session: Session }) {
  const { t } = useTranslation();
  const end = useChange({
    run: () => dataOf(api.DELETE("/api/me/sessions/{id}", { params: { path: { id } } })),
    done: t("account.sessionEnded"),
  });
  if (isCurrent) return "–";
  return (
    <Button size="compact-xs" variant="default" loading={end.isPending} onClick={() => end.mutate()}>
      {t("account.endSession")}
    </Button>
  );
}

function EndOthers() {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("account.endOthers")}
      effect={t("account.endOthersAbout")}
      done={t("account.othersEnded")}
      run={() => dataOf(api.POST("/api/me/sessions/end-others", {}))}
    />
  );
}

/** What the service has made for the person's device. */
type NewFactor = { readonly uri: string; readonly backupCodes: readonly string[] };

type Props = {
  /** Null: nothing is shown. */
  readonly factor: NewFactor | null;
  readonly onClose: () => void;
  readonly onVerified: (factor: NewFactor) => void;
};

/** Shows the secret to the person's device, and asks for a code of it. Before that nothing has changed. */
function VerifyDevice({ factor, onClose, onVerified }: Props) {
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
