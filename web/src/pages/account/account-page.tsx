import { SimpleGrid, Stack } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useMe } from "../../api/me.ts";
import { NewPasswordForm } from "../../sign-in/new-password-form.tsx";
import { Page } from "../../ui/page.tsx";
import { Section } from "../../ui/section.tsx";
import { Passkeys } from "./passkeys.tsx";
import { Sessions } from "./sessions.tsx";

/** How a person signs in, and where it is signed in. */
export function AccountPage() {
  const { t } = useTranslation();
  return (
    <Page title={t("account.title")} about={useMe().name}>
      <Stack gap="md">
        <Sessions />
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <Passkeys />
          <Section title={t("account.password")}>
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
