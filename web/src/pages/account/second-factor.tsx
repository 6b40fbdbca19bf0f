import { Group, PasswordInput, Text } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { read } from "../../api/read.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { filled } from "../../ui/form/use-api-form.ts";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Section } from "../../ui/section.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { type NewFactor, VerifyDevice } from "./verify-device.tsx";

/** One-time codes: set up with a device, with backup codes for when it is lost. */
export function SecondFactor() {
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
