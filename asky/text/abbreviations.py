"""Abbreviations, months and sentence starters of English, German, French, Spanish, Italian and Dutch.

One list for all six: a text may be in several, and a sentence is too short to tell. So a word that another of the six
languages ends sentences with (`all`, `man`, `min`) is in no list, however usual it is as an abbreviation. Abbreviations
of several parts (`z. B.`, `a. C.`, `p.m.`) are recognised by their form and listed only where it is not enough.

Source: general usage; the sentence break suppressions of Unicode CLDR for German, French and Italian were compared.
"""

from __future__ import annotations


def _words(*listed: str) -> frozenset[str]:
    return frozenset(" ".join(listed).split())


NEVER_END = _words(
    "mr mrs ms messrs dr drs prof rev hon gen col capt lt sgt maj adm sen rep gov pres supt v vs cf eg ie viz ca approx"
    " resp incl esp e.g i.e",
    "hr hrn fr frl geb gest gez verh verw dipl ing hl fa fam gebr hrsg vgl bzw bspw ggf ggfs evtl inkl exkl zzgl"
    " abzgl einschl ausschl insb insbes sog sogen eigtl entspr urspr ehem näml allg amtl österr gem z.b d.h p.a"
    " i.a i.v z.hd m.e",
    "MM mme mmes mlle mlles mgr bd Pr env av c.-à-d p.ex n.b",
    "sra sras srta sres dña dn lic arq dra dras dres avda aprox ilmo ilma excmo excma ej p.ej EE",
    "sig sigg dott dott.ri avv geom cfr vd spett egr p.es f.lli",
    "dhr mevr Mw mej ir ds bijv bv evt excl t.a.v d.w.z m.b.t i.v.m n.a.v",
)
"""Abbreviations followed by a name, a number or a clause: their stop never ends a sentence.

Those with a capital are so only as written: `MM. Durand`, but a length in mm ends one."""

LABELS = _words(
    "no nos nr fig figs eq eqs sec secs ch chap vol vols p pp pt pts art arts tab tabs ref refs app ver thm lem def"
    " prop par para ed eds cl op ser sect",
    "nrn abs abb abschn anm aufl bde kap ziff rn rdnr rz lfg str tel pkt pos jg kto plz max",
    "paragr tabl réf réfs éd tél fol",
    "núm nums núms pág págs pag pags cap apdo secc párr",
    "artt pagg nn lett tav sez",
    "blz hfdst afb afd bijl",
    "jan feb mar apr jun jul aug sep sept oct nov dec",
    "mrz mär okt dez janv févr fév avr juil août déc ene abr dic genn febbr magg giu lugl lug sett ott mrt",
)
"""Abbreviations only before a number or label: "No. 5", "Fig. 3", "Sec. IV", "Abs. 2", "pág. 34", "Jan. 5"."""

MAY_END = _words(
    "al inc ltd co corp bros jr sr st ave blvd rd dept univ assn est govt mt ft intl natl mfg dist"
    " mon tue tues wed thu thur thurs fri sat sun",
    "mio mrd cie mln UU zn s.a",
)
"""Abbreviations that may close a sentence: they do when a frequent sentence starter follows."""

STARTERS = _words(
    "a an the this that these those in on at by for from with without as if when while after before since although"
    " though however moreover furthermore therefore thus hence but and or so yet it its he she they we you i his her"
    " their our my there here what who why how where which both each some many most all no not now then once another"
    " other to of under over despite during because unlike also finally instead meanwhile today such",
    "der die das ein eine es er sie wir ich ihr sein seine ihre unser unsere dieser diese dieses dies im am an auf aus"
    " bei beim bis mit nach von vom vor zu zum zur für gegen ohne um unter über durch seit wenn als da dann danach dazu"
    " dabei daher deshalb dort doch aber und oder auch nur noch hier heute wie wer wo warum weil obwohl während nicht"
    " alle viele einige weitere näheres zudem außerdem",
    "le la les l un une des il elle ils elles on nous vous je ce cet cette ces son sa ses leur leurs dans en sur sous"
    " pour par avec sans après avant depuis si quand lorsque mais et ou donc puis ainsi cependant selon chaque"
    " tous toutes aussi",
    "el los las lo uno una unos unas este esta estos estas ese esa esto su sus se si no en con sin por para desde"
    " hasta según cuando pero además también luego después todos cada nadie",
    "il lo gli uno una questo questa questi queste quello nel nella con senza per da dal dopo prima se quando poi"
    " anche inoltre secondo ogni tutti si non è",
    "de het een dit dat deze die hij zij ze wij we ik u er in op bij met zonder voor na van volgens als toen maar"
    " en of ook dus daarna daarom alle elke niet wie wat waar",
)
"""Words that often begin a sentence, in lower case."""

NAMES = _words(
    "de den der des di da du del dem el la le las los lo l van von zu zum zur su si se son per sur un bei mit ce er"
    " na ne non dan op en"
)
"""Starters of other languages that may be a name, or begin one, after an initial: "J. De Vries", "L. Na"."""

MONTHS = _words(
    "januar jänner februar feber märz april mai juni juli august september oktober november dezember"
    " jan feb mrz mär apr jun jul aug sep sept okt nov dez"
)
"""The months of languages that write them with a capital after an ordinal: "31. Mai". The others: "31. mai"."""

BEFORE_ORDINALS = _words(
    "der die das den dem des im am vom zum zur beim ab seit ein eine einen einem einer eines jeden jeder jede jedes"
    " dieser diese diesen diesem dieses sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere unseren"
    " unserem unserer mein meine meinen meinem meiner"
)
"""German words before an ordinal, whose noun has a capital: "im 19. Jahrhundert", "der 2. Vorsitzende"."""
