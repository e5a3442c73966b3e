"""Forms: tables whose names stand beside their values, told by marks, by colons, or by the words of the names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from asky.reading.tables.cells import GridRow
from asky.reading.tables.kinds import kind_of, kind_of_column

_MAX_PAIRS = 3  # of names and values in the row of a form
_FEW_NAMES = 2
_MAX_NAME_CHARS = 60
_LISTED = 40  # rows up to which two columns of words can be names and values
_MOST = 0.8
_TWO_THIRDS = 2 / 3
_HALF = 0.5

# Source: the labels of forms, data sheets and lists of members in English, German, French, Spanish, Italian, Dutch,
# Norwegian, Swedish and Danish, collected by hand. A table of two columns without marks says nothing else about whether
# its first row names them: `Name | Silver Heron` above `Length | 9.35` is no head, `Item | Price` above `Oar | 40` is.
_WORDS = frozenset(
    """
    name surname title date time year month day week born birth birthday age gender sex nationality address street
    city town postcode zip country region state county place location site venue room building floor phone telephone
    tel mobile fax email e-mail mail website web url contact owner author editor publisher company organisation
    organization department role position job employer manager supervisor client customer supplier vendor member
    type kind category class group status version number no id ref reference code key sku isbn issn serial model
    make brand manufacturer colour color size length width height depth beam draught draft weight mass volume
    capacity displacement area distance speed power engine fuel temperature pressure voltage price cost amount total
    sum subtotal value rate fee rent deposit tax vat discount balance budget currency unit quantity qty count stock
    start begin end from to until duration period deadline due issued valid expires expiry created updated modified
    built launched founded opened closed port home hull material language licence license format file description
    definition meaning comment note notes remark remarks purpose subject topic summary result score grade level
    priority frequency percentage share average mean minimum maximum min max default setting option parameter
    property attribute field answer question term person people population capital berth captain skipper crew
    registration registered invoice order account iban bic bank payment method delivery shipping item product
    service article task action event session speaker doctor patient diagnosis dose

    vorname nachname titel datum uhrzeit zeit jahr monat tag woche geboren geburtsdatum alter geschlecht anschrift
    adresse straße strasse ort stadt plz land telefon handy webseite ansprechpartner eigentümer besitzer verfasser
    firma abteilung rolle kunde lieferant mitglied art typ kategorie stand nummer nr kennung kennzeichen hersteller
    modell marke farbe größe grösse länge breite höhe tiefe tiefgang gewicht masse volumen fläche geschwindigkeit
    leistung motor preis kosten betrag summe gesamt wert miete kaution steuer mwst rabatt währung einheit menge
    anzahl bestand beginn anfang ende dauer zeitraum frist gültig erstellt geändert baujahr heimathafen hafen werft
    sprache beschreibung bezeichnung bedeutung bemerkung bemerkungen anmerkung zweck betreff ergebnis einwohner
    hauptstadt rechnung auftrag konto

    nom prénom prenom titre heure année annee mois jour semaine naissance âge sexe nationalité rue ville pays
    téléphone courriel propriétaire auteur société rôle fournisseur membre genre catégorie état numéro numero
    référence modèle marque couleur taille longueur largeur hauteur profondeur tirant poids surface vitesse
    puissance moteur prix coût cout montant valeur taux loyer dépôt taxe tva remise devise unité quantité début fin
    durée période échéance valable créé modifié construit langue désignation remarque remarques objet résultat
    capitale facture commande compte

    nombre apellido apellidos título fecha hora año mes día semana nacimiento edad sexo dirección calle ciudad país
    teléfono correo propietario autor empresa cliente proveedor tipo categoría estado número código modelo marca
    tamaño longitud eslora anchura manga altura calado peso superficie velocidad potencia precio coste importe valor
    alquiler impuesto iva moneda unidad cantidad inicio duración puerto idioma descripción observaciones notas
    resultado

    cognome titolo data ora anno mese giorno settimana nascita età indirizzo via città paese telefono proprietario
    autore azienda ruolo fornitore categoria stato codice modello colore dimensione lunghezza larghezza altezza
    profondità velocità potenza prezzo costo importo totale valore canone imposta valuta unità quantità inizio fine
    durata porto lingua descrizione osservazioni risultato

    naam voornaam achternaam tijd jaar maand dag geboortedatum leeftijd adres straat plaats stad telefoon eigenaar
    bedrijf klant leverancier soort categorie kleur grootte lengte breedte hoogte diepte diepgang snelheid vermogen
    prijs bedrag totaal waarde huur borg belasting btw eenheid aantal einde duur haven taal omschrijving
    beschrijving opmerking opmerkingen resultaat

    navn fornavn etternavn efternavn förnamn efternamn namn tittel dato tid år måned månad uke vecka født född alder
    ålder kjønn adress gate sted by epost e-post eier ägare ejer forfatter selskap kund leverandør leverantör medlem
    kategori farge färg størrelse storlek lengde längd længde bredde bredd høyde höjd højde dybde djup dypgang vekt
    vikt vægt areal fart hastighet effekt pris kostnad beløp belopp summa totalt verdi värde leie hyra skatt mva
    moms enhet antall antal beholdning slutt slut varighet gyldig bygget byggår hjemmehavn hemmahamn havn hamn språk
    beskrivelse beskrivning merknad anmärkning resultat innbyggere
    """.split()  # noqa: SIM905 - a list literal of some hundred quoted words is harder to read and to change
)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_MAX_WORDS = 5


def names_field(text: str) -> bool:
    """Return whether a short text has a word by which fields are called: `Date of birth`, `price_eur`."""
    if len(text) > 60:
        return False
    found = [word.casefold() for word in _WORD.findall(text.replace("_", " "))]
    return 0 < len(found) <= _MAX_WORDS and any(word in _WORDS for word in found)


def is_form(rows: Sequence[GridRow], *, is_list: bool) -> bool:
    """Return whether most rows are names beside their values: by marks, by colons, or by the words of the names."""
    parted = [pairs for row in rows if len(list(row.all_cells())) % 2 == 0 and (pairs := pairs_of(row))]
    count = Counter(map(len, parted)).most_common(1)
    if not count or count[0][0] > _MAX_PAIRS or len(parted) < max(_HALF * len(rows), 1):
        return False
    pairs = [pair for each in parted for pair in each if pair[0]]
    names, values = [name for name, _ in pairs], [value for _, value in pairs if value]
    if _marks_alternate(rows[0]) and sum(map(_marks_alternate, rows)) >= _MOST * len(rows):
        return True
    if sum(name.endswith((":", "：")) for name in names) >= _MOST * len(names):
        return not any(value.endswith((":", "：")) for value in values)
    if any(len(name) > _MAX_NAME_CHARS or kind_of(name) != "text" for name in names) or len(set(names)) < len(names):
        return False
    if not values or any(names_field(value) for _, value in parted[0]) or len(rows) > _LISTED:
        return False
    share = _TWO_THIRDS if count[0][0] > 1 else _HALF  # of several names in a row, one may be a word of a heading
    if sum(map(names_field, names)) >= share * len(names) and (
        len(names) > _FEW_NAMES or not is_list or kind_of(values[0]) != "text"
    ):
        return True
    if count[0][0] > 1 or is_list:
        return False
    kind = kind_of_column(values[1:])
    return kind == "text" or kind_of(values[0]) == kind


def _marks_alternate(row: GridRow) -> bool:
    columns = [column for column, _, _ in row.all_cells()]
    return row.heads.issuperset(columns[::2]) and row.heads.isdisjoint(columns[1::2])


def pairs_of(row: GridRow) -> list[tuple[str, str]]:
    """Return the names of a form's row with their values, either of which can be empty; none for a lone cell."""
    texts = [text for _, _, text in row.all_cells()]
    return list(zip(texts[::2], [*texts[1::2], ""], strict=False)) if len(texts) > 1 else []
