import { Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { createPasskey, hasPasskeys } from "../../api/passkeys.ts";
import { read } from "../../api/read.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Section } from "../../ui/section.tsx";
import { Time } from "../../ui/time.tsx";

/** The passkeys of the person. */
export function Passkeys() {
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
