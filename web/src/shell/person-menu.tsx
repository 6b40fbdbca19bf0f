import { Button, Popover, Stack, Text } from "@mantine/core";
import { IconLogout, IconUserCircle } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../api/client.ts";
import { rolesOf, useMe } from "../api/me.ts";
import { leaveAllTabs } from "../api/other-tabs.ts";
import { useChange } from "../api/use-change.ts";
import { paths } from "../paths.ts";
import { ButtonLink, useGo } from "../ui/link.tsx";
import { LanguageChoice, ThemeChoice } from "./preferences.tsx";

/** Who is signed in, how the console looks to them, and the way out. */
export function PersonMenu() {
  const { t } = useTranslation();
  const me = useMe();
  const go = useGo();
  const signOut = useChange({
    run: () => dataOf(api.POST("/auth/sign-out", {})),
    onDone: () => void leaveAllTabs(() => go(paths.signIn())),
  });
  return (
    <Popover position="bottom-end" width={260} trapFocus>
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          size="xs"
          leftSection={<IconUserCircle size={18} stroke={1.6} />}
        >
          <Text span inherit truncate maw="14rem">
            {me.name}
          </Text>
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={me.name} maw="calc(100vw - 1rem)">
        <Stack gap="sm">
          <Text size="xs" c="dimmed">
            {t("shell.role", {
              role: rolesOf(me)
                .map((role) => t(`roles.${role}`))
                .join(", "),
            })}
          </Text>
          <ThemeChoice />
          <LanguageChoice />
          {me.type === "person" && (
            <ButtonLink to={paths.account()} size="xs" variant="default">
              {t("account.title")}
            </ButtonLink>
          )}
          {me.type === "person" && (
            <Button
              size="xs"
              variant="default"
              leftSection={<IconLogout size={14} />}
              loading={signOut.isPending}
              onClick={() => signOut.mutate()}
            >
              {t("signIn.signOut")}
            </Button>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
