import { Kbd, Modal, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import classes from "./layout.module.css";
import type { PageName } from "./navigation.ts";

type Props = {
  readonly pages: readonly { readonly name: PageName; readonly key: string }[];
  readonly close: () => void;
};

/** The keys that work on every page. */
export function ShortcutList({ pages, close }: Props) {
  const { t } = useTranslation();
  const keys: readonly (readonly [string, string])[] = [
    ["Ctrl K", t("shortcuts.palette")],
    ["/", t("shortcuts.search")],
    ["j", t("shortcuts.next")],
    ["k", t("shortcuts.previous")],
    ["Enter", t("shortcuts.open")],
    ["a", t("orderActions.approve")],
    ["h", t("orderActions.hold")],
    ["e", t("shortcuts.edit")],
    ...pages.map(({ name, key }) => [`g ${key}`, t(`navigation.${name}`)] as const),
    ["?", t("shortcuts.list")],
  ];
  return (
    <Modal
      opened
      onClose={close}
      title={t("shortcuts.title")}
      size="sm"
      closeButtonProps={{ "aria-label": t("ui.close") }}
    >
      <Stack gap={6}>
        {keys.map(([key, what]) => (
          <div key={key} className={classes["shortcut"]}>
            <Text size="sm">{what}</Text>
            <span>
              {key.split(" ").map((part) => (
                <Kbd key={part} size="xs" ml={4}>
                  {part}
                </Kbd>
              ))}
            </span>
          </div>
        ))}
      </Stack>
    </Modal>
  );
}
