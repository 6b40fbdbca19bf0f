import { Box, Center, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import { useTranslation } from "react-i18next";
import icon from "../shell/icon.svg";
import { LanguageChoice } from "../shell/preferences.tsx";

/** The frame of the pages before the sign-in. */
export function SignInFrame({ title, children }: { title: string; children: ReactNode }) {
  const { t } = useTranslation();
  useEffect(() => {
    document.title = `${title} · ${t("shell.product")}`;
  }, [title, t]);
  return (
    <Center mih="100vh" p="md" component="main">
      <Stack w={380} maw="100%" gap="md">
        <Group gap={8} justify="center">
          <img src={icon} width={28} height={28} alt="" />
          <Text fw={600}>{t("shell.product")}</Text>
        </Group>
        <Paper withBorder p="lg" radius="md">
          <Stack gap="md">
            <Title order={1} size="h4">
              {title}
            </Title>
            {children}
          </Stack>
        </Paper>
        <Box w={180} maw="100%" mx="auto">
          <LanguageChoice />
        </Box>
      </Stack>
    </Center>
  );
}
