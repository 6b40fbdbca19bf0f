import { Container } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Page } from "../ui/page.tsx";

export function SignInPage() {
  const { t } = useTranslation();
  return (
    <Container size="xs" py="xl">
      <Page title={t("signIn.title")} about={t("signIn.about")}>
        {null}
      </Page>
    </Container>
  );
}
