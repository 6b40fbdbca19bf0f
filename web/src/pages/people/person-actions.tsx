import { Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import type { Person } from "../../api/schema.d.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";

type Props = { readonly person: Person };

/** The actions on a person in its state. */
export function PersonActions({ person }: Props) {
  const isOperator = useHasRole("operator");
  const { state } = person;
  return (
    <>
      {isOperator && <Rename person={person} />}
      {state === "invited" && <Resend person={person} />}
      {isOperator && person.hasSingleSignOn && <Unlink person={person} />}
      {isOperator && state !== "invited" && <RemoveMethods person={person} />}
      {isOperator && state !== "disabled" && <SignInLink person={person} />}
      {state === "disabled" ? <Enable person={person} /> : <Disable person={person} />}
    </>
  );
}

const pathOf = ({ id }: Person) => ({ params: { path: { id } } });

function Rename({ person }: Props) {
  const { t } = useTranslation();
  const { name, email } = person;
  return (
    <ConfirmAction
      label={t("people.rename")}
      effect={t("people.renameEffect")}
      done={t("people.renamed")}
      initialValues={{ name, email }}
      validate={(values) => ({
        ...(values.name.trim() === "" && { name: t("ui.required") }),
        ...(values.email.trim() === "" && { email: t("ui.required") }),
      })}
      fields={(form) => (
        <Stack gap="sm">
          <TextInput label={t("people.name")} required data-autofocus {...form.getInputProps("name")} />
          <TextInput label={t("people.email")} type="email" required {...form.getInputProps("email")} />
        </Stack>
      )}
      run={(_, { changed }) => dataOf(api.PATCH("/api/people/{id}", { ...pathOf(person), body: changed }))}
    />
  );
}

function Resend({ person }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("people.resend")}
      effect={t("people.resendEffect", { email: person.email })}
      done={t("people.resent")}
      run={() => dataOf(api.POST("/api/people/{id}/resend-invitation", pathOf(person)))}
    />
  );
}

/** For a person whose account at the identity provider was made again. */
function Unlink({ person }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("people.unlink")}
      effect={t("people.unlinkEffect", { name: person.name })}
      done={t("people.unlinked")}
      isDanger
      run={() => dataOf(api.POST("/api/people/{id}/unlink-single-sign-on", pathOf(person)))}
    />
  );
}

/** For a person as whom another human has signed in. */
function RemoveMethods({ person }: Props) {
  const { t } = useTranslation();
  const { name, email } = person;
  return (
    <ConfirmAction
      label={t("people.removeMethods")}
      effect={t("people.removeMethodsEffect", { name, email })}
      done={t("people.methodsRemoved")}
      isDanger
      run={() => dataOf(api.POST("/api/people/{id}/remove-sign-in-methods", pathOf(person)))}
    />
  );
}

/** For a person who can neither sign in nor receive mail. */
function SignInLink({ person }: Props) {
  const { t } = useTranslation();
  const [url, setUrl] = useState<string | null>(null);
  return (
    <>
      <ConfirmAction
        label={t("people.makeLink")}
        effect={t("people.makeLinkEffect", { name: person.name })}
        done={t("people.linkMade")}
        run={async () => {
          const link = await dataOf(api.POST("/api/people/{id}/sign-in-link", pathOf(person)));
          setUrl(link.url);
        }}
      />
      <ShownOnce
        title={t("people.link")}
        about={t("people.linkAbout", { name: person.name })}
        value={url}
        onClose={() => setUrl(null)}
      />
    </>
  );
}

function Disable({ person }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("people.disable")}
      effect={t("people.disableEffect", { name: person.name })}
      done={t("people.disabled")}
      isDanger
      run={() => dataOf(api.POST("/api/people/{id}/disable", pathOf(person)))}
    />
  );
}

function Enable({ person }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("people.enable")}
      effect={t("people.enableEffect", { name: person.name })}
      done={t("people.enabled")}
      run={() => dataOf(api.POST("/api/people/{id}/enable", pathOf(person)))}
    />
  );
}
