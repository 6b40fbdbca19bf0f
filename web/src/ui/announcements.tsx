import { CloseButton } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { announced } from "./announce.ts";
import classes from "./announcements.module.css";

/** Where messages are announced. It is always there, so that screen readers report what appears in it. */
export function Announcements() {
  const { t } = useTranslation();
  const messages = useSyncExternalStore(announced.subscribe, announced.current);
  return (
    <div role="status" className={classes["messages"]}>
      {messages.map(({ id, text, tone }) => (
        <div key={id} className={classes["message"]} data-tone={tone}>
          <span>{text}</span>
          <CloseButton size="sm" aria-label={t("ui.close")} onClick={() => announced.close(id)} />
        </div>
      ))}
    </div>
  );
}
