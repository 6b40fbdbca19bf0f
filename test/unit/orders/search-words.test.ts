import { describe, expect, it } from "vitest";
import { queryOf, searchWordsOf, termsOf } from "../../../src/orders/search-words.ts";
import { foldText } from "../../../src/platform/fold-text.ts";
import { folded } from "../../../web/src/text/folded.ts";

// See docs/design/api-conventions.md, "Searching orders".

const NOTHING = {
  firstName: "-",
  lastName: "-",
  name: null,
  company: null,
  city: "-",
  zip: "-",
  phone: null,
};

/** True if an order with these fields is found by its words, by their beginnings alone. */
function isFound(fields: Partial<typeof NOTHING | Record<string, string>>, typed: string, externalId = null) {
  const words = ` ${searchWordsOf({ ...NOTHING, ...fields }, externalId)} `;
  return termsOf(typed).some((all) => all.every(({ pattern }) => words.includes(pattern.slice(1, -1))));
}

describe("a folded text", () => {
  it.each([
    ["Großmann", "grossmann"],
    ["STRASSE", "strasse"],
    ["Guðmundsdóttir", "gudmundsdottir"],
    ["Núñez", "nunez"],
    ["Nu\u0301n\u0303ez", "nunez"],
    ["O’Connor", "oconnor"],
    ["O'Connor `D'Arcy", "oconnor darcy"],
    ["Tab\tand O'Neill", "tab\tand oneill"],
    ["Oʼ Connor", "o connor"],
    ["Łukasz Đorđe Ægir Œuvre Søren Þór", "lukasz dorde aegir oeuvre soren thor"],
    ["İstanbul Ilgın Işık", "istanbul ilgin isik"],
    ["ﬁ Ｔｏｋｙｏ", "fi tokyo"],
    ["Αθήνα Οδυσσεύς", "αθηνα οδυσσευσ"],
    ["Алёна Андрей", "алена андреи"],
    ["مُحَمَّد", "محمد"],
    ["ガラス", "ガラス"],
    ["ｶﾞﾗｽ", "ガラス"],
    ["한국", "한국"],
  ])("of %s is %s", (text, folded) => {
    expect(foldText(text)).toBe(folded);
    expect(foldText(foldText(text))).toBe(folded);
  });
});

it.each(["Großlager Łódź", "L’Entrepôt d'Orléans", "Ærø Đakovo Œuvre", "Nu\u0301n\u0303ez", "ガラス 한국"])(
  "the console folds %s as the service does",
  (name) => expect(folded(name)).toBe(foldText(name)),
);

describe("the words of an order", () => {
  it("name each once, and leave out what stands for nothing", () => {
    const address = { ...NOTHING, firstName: "Ada", lastName: "Lovelace", name: "Ada Lovelace", city: "Ada" };
    expect(searchWordsOf(address, null)).toBe("ada lovelace");
    expect(searchWordsOf(NOTHING, null)).toBe("");
  });

  it("have of an external id what is a number, and not the word that all of a shop's ids have", () => {
    expect(searchWordsOf(NOTHING, "web-1002/7")).toBe("1002");
  });
});

describe("a typed text", () => {
  it.each([
    [{ lastName: "Großmann" }, "grossmann"],
    [{ lastName: "Grossmann" }, "Großm"],
    [{ lastName: "Müller" }, "Muller"],
    [{ lastName: "Müller" }, "mueller"],
    [{ lastName: "Mu\u0308ller" }, "Mueller"],
    [{ lastName: "Mueller" }, "Müller"],
    [{ lastName: "O’Connor" }, "O'Connor"],
    [{ lastName: "O’Connor" }, "oconnor"],
    [{ lastName: "O’Connor" }, "connor"],
    [{ lastName: "O’Connor" }, "o connor"],
    [{ lastName: "L’Écuyer" }, "l'ecuyer"],
    [{ lastName: "L'Ecuyer" }, "Écuyer"],
    [{ firstName: "Jean-Luc", lastName: "Picard" }, "picard, jean"],
    [{ zip: "SW1A 1AA" }, "sw1a1aa"],
    [{ zip: "SW1A1AA" }, "SW1A"],
    [{ zip: "SW1A1AA" }, "SW1A 1AA"],
    [{ lastName: "Smith", zip: "SW1A1AA" }, "smith sw1a 1aa"],
    [{ lastName: "Smith", zip: "SW1A1AA" }, "SW1A 1AA Smith"],
    [{ zip: "1012AB" }, "1012 ab"],
    [{ zip: "1000001" }, "100-0001"],
    [{ phone: "(555) 010-9999 x12" }, "555 0109999"],
    [{ phone: "555 010 9999" }, "+1 (555) 010-9999 ext. 7"],
    [{ phone: "+49 30 901820" }, "tel:+4930901820"],
    [{ zip: "SW1A 1AA", lastName: "Smith" }, "Smith SW1A 1AA"],
    [{ city: "Sankt Pölten" }, "polten sankt"],
    [{ phone: "+49 (0)30 1234567" }, "030 1234567"],
    [{ phone: "+49 30 1234567" }, "0049 30 1234567"],
    [{ phone: "030/1234567" }, "+49 30 123-4567"],
    [{ phone: "030/1234567" }, "(030) 123 4567"],
    [{ phone: "+1 (415) 555-0100" }, "415 555 0100"],
    [{ phone: "415.555.0100" }, "+14155550100"],
    [{ phone: "+49 30 1234567" }, "234567"],
  ])("%o is found by %s", (fields, typed) => {
    expect(isFound(fields, typed)).toBe(true);
  });

  it.each([
    [{ lastName: "Muller" }, "Mueller"],
    [{ lastName: "Smith" }, "Smithers"],
    [{ lastName: "Smith" }, "Smith Anna"],
    [{ phone: "+49 30 1234567" }, "1234568"],
    [{ phone: "+49 30 1234567" }, "+1 301234567"],
    [{ phone: "12345" }, "12345"],
    [{ lastName: "Smith" }, " , - "],
  ])("%o is not found by %s", (fields, typed) => {
    expect(isFound(fields, typed)).toBe(false);
  });

  it("has nothing that a query would read as its own", () => {
    const terms = termsOf(`a' | 'b\\ & !c:* (d) <-> "e"`);
    expect(terms.flat().map(({ query }) => query)).toEqual(["'a':*", "'b':*", "'c':*", "'d':*", "'e':*"]);
  });

  it.each([
    [{}, "('anna':*)"],
    [{ "% anna%": 3, "% muller%": 2, "% berlin%": 1 }, "('berlin':* & 'muller':*)"],
    [{ "% anna%": 3, "% berlin%": 1 }, "('muller':*)"],
  ])("is looked up by its rarest words, if a sample has %o", (counts, query) => {
    expect(queryOf(termsOf("anna muller berlin"), new Map(Object.entries(counts)))).toBe(query);
  });
});
