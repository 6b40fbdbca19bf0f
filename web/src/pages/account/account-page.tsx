import { SimpleGrid, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useMe } from "../../api/me.ts";
import { NewPasswordForm } from "../../sign-in/new-password-form.tsx";
import { Page } from "../../ui/page.tsx";
import { Section } from "../../ui/section.tsx";
import { Passkeys } from "./passkeys.tsx";
import { SecondFactor } from "./second-factor.tsx";
import { Sessions } from "./sessions.tsx";

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
