import { createInstance } from "i18next";
import { initReactI18next } from "react-i18next";
import { readStored, store } from "../stored.ts";
import { type ErrorTexts, setErrorTexts } from "./explanations.ts";
import { formatLocale, setFormatLanguage } from "./format.ts";
import type { en } from "./texts.en.ts";

/** The languages of the console, with their own names. */
export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

declare module "i18next" {
  interface CustomTypeOptions {
    resources: { translation: typeof en };
  }
}

const STORED = "language";

// Only the texts of the chosen language are loaded.
const TEXTS = {
  en: async () => (await import("./texts.en.ts")).en,
  de: async () => (await import("./texts.de.ts")).de,
};

const ERRORS: Record<Language, () => Promise<ErrorTexts>> = {
  en: async () => (await import("./errors.en.ts")).errors,
  de: async () => (await import("./errors.de.ts")).errors,
};

const isLanguage = (value: string | null | undefined): value is Language =>
  value !== null && value !== undefined && Object.hasOwn(LANGUAGES, value);

function firstLanguage(): Language {
  const stored = readStored(STORED);
  if (isLanguage(stored)) return stored;
  return navigator.languages.map((tag) => tag.split("-")[0]).find(isLanguage) ?? "en";
}

const i18n = createInstance();

/** Loads the texts. The console draws nothing before. */
export async function startTexts(): Promise<void> {
  const language = firstLanguage();
  await i18n.use(initReactI18next).init({
    lng: language,
    fallbackLng: false,
    resources: { [language]: { translation: await TEXTS[language]() } },
    interpolation: { escapeValue: false }, // React escapes.
  });
  setErrorTexts(await ERRORS[language]());
  setFormatLanguage(language);
  // As all other numbers of the console: in the person's own regional form.
  i18n.services.formatter?.add("number", (value: number) => value.toLocaleString(formatLocale()));
  document.documentElement.lang = language;
  // A choice in one tab is that of all.
  window.addEventListener("storage", ({ key, newValue }) => {
    if (key === STORED && isLanguage(newValue)) void changeLanguage(newValue);
  });
}

export async function changeLanguage(language: Language): Promise<void> {
  if (!i18n.hasResourceBundle(language, "translation"))
    i18n.addResourceBundle(language, "translation", await TEXTS[language]());
  setErrorTexts(await ERRORS[language]());
  setFormatLanguage(language);
  store(STORED, language);
  document.documentElement.lang = language;
  await i18n.changeLanguage(language);
}
