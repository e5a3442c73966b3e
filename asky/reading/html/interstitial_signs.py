"""Signs of obstacle pages, which only stand in the way of another page: one line per sign.

In these tables an apostrophe matches any apostrophe, and a blank any white space.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Non-white-space characters of a page up to which a sign counts.
TINY, SHORT, SMALL, CONSENTING = 200, 600, 1_500, 4_000


@dataclass(frozen=True, slots=True)
class Sign:
    """`pattern` on a page of at most `max_chars` characters means `verdict`."""

    verdict: str
    message: str
    max_chars: int
    pattern: re.Pattern[str]


def _any(lines: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    alternatives = [line.strip() for line in lines.strip().split("\n")]
    pattern = "|".join(alternatives).replace("'", "['’]").replace(" ", r"\s+")
    return re.compile(pattern, flags | re.MULTILINE)


def _code(lines: str) -> re.Pattern[str]:
    """Compile like `_any`, but for names in the source of a page: matched literally, in a third of the time."""
    return _any(lines, re.UNICODE)


# Traces of site guards in the source of their own pages, and not in that of pages they protect.
GUARDS = (
    Sign("captcha", "a challenge for browsers instead of the page (Cloudflare)", SMALL, _code(r"""
        _cf_chl_opt
        cf-chl-widget
        id="challenge-(?:form|error-text|running)
    """)),
    Sign("captcha", "a captcha instead of the page (DataDome)", SHORT, _code(r"captcha-delivery\.com")),
    Sign("captcha", "a captcha instead of the page (PerimeterX)", SMALL, _code(r"""
        px-captcha
        captcha\.px-(?:cloud|cdn)\.net
    """)),
    Sign("captcha", "a challenge for browsers instead of the page (AWS)", SHORT, _code(r"""
        AwsWafIntegration
        awsWafCookieDomainList
        window\.gokuProps
    """)),
    Sign("captcha", "a challenge for browsers instead of the page", SHORT, _code(r"""
        sec-if-cpt-container
        bm-verify\b
        sgcaptcha
        ddos-guard/js-challenge
        KPSDK\.configure
        anubis_challenge
    """)),
    Sign("captcha", "a captcha instead of the page (Google)", SMALL, _code(r"""
        google\.com/sorry/
        id="captcha-form"
    """)),
    Sign("blocked", "the site blocks automated access (Imperva)", SHORT, _code(r"""
        Incapsula incident ID
        _Incapsula_Resource\?[^">]{0,300}(?:incident_id|edet|xinfo)
    """)),
)  # fmt: skip

_HUMAN = r"(?:that )?you(?: are|'re) (?:a )?(?:human|not a (?:ro)?bot)\b"
# Visible text: the title, the text, and the content for browsers without scripts.
VISIBLE_TEXT = (
    Sign("captcha", "a test for humans instead of the page", SMALL, _any(rf"""
        ^just a moment\W*$
        \bchecking (?:your browser|if the site connection is secure)\b
        \b(?:verify(?:ing)?|confirm|prove|mak(?:e|ing) sure|ensure) {_HUMAN}
        \bare you a (?:human|robot)\?
        \bi(?: a|')m not a robot\b
        \benter the characters you see\b
        \b(?:complete|solve|pass) (?:the|this|a) (?:security check|captcha|challenge|puzzle)\b
        \bunusual (?:traffic|activity) from your\b
        \bpardon our interruption\b
        \bpress (?:&|and) hold\b
        \b(?:human|bot|robot) (?:verification|check)\b
        \bneeds to review the security of your connection\b
        \bddos protection by\b
        \bich bin kein roboter\b
        \bje ne suis pas un robot\b
        \bno soy un robot\b
    """)),
    Sign("blocked", "the site asks to wait: too many requests", SHORT, _any(r"""
        \btoo many requests\b
        \brate limit(?:ed| (?:has been )?(?:exceeded|reached))
        \berror 1015\b
        \byou(?:'ve| have) (?:exceeded|reached) (?:the|your) (?:\w+ )?(?:rate|request|download) limit\b
    """)),
    Sign("blocked", "the site refused access", SMALL, _any(r"""
        \baccess (?:denied|forbidden|blocked)\b
        \baccess to (?:this|the) (?:page|site|website|resource) (?:has been |was |is )?(?:denied|forbidden|blocked)\b
        \byou (?:do not|don't) have (?:permission|access|authorization) to (?:access|view)\b
        \byou(?:'ve been| have been| are| were) blocked\b
        \b(?:403|401|451) (?:error|forbidden|unauthorized|unavailable)\b
        \b(?:error|http) (?:403|401|451)\b
        \byour (?:ip(?: address)?|request|access|browser) (?:\w+ ){1,3}(?:blocked|banned|denied|rejected|restricted)\b
        \battention required! \| cloudflare\b
        \berror (?:code:? )?10(?:05|06|07|08|09|10|12|20)\b
        \brequested url was rejected\b
        \brequest (?:blocked|could not be satisfied)\b
        \bautomated (?:access|requests|queries)\b.{0,80}\b(?:not|prohibited|blocked|sending)\b
        \b(?:not available|unavailable) (?:in|from) your (?:country|region|location|area)\b
        \bunavailable (?:for|due to) legal reasons\b
        \b(?:disable|turn off) your ad\W?blocker\b
        \bzugriff (?:verweigert|gesperrt)\b
        \baccès refusé\b
        \bacceso denegado\b
    """)),
    Sign("blocked", "only a request to agree to cookies", CONSENTING, _any(r"""
        \bbefore you continue to (?:google|youtube)\b
        \bbevor sie zu (?:google|youtube) weitergehen\b
        \bavant d'accéder à (?:google|youtube)\b
        \bis part of the yahoo family of brands\b
    """)),
    Sign("login", "only for subscribers", SMALL, _any(r"""
        \bsubscribe (?:now )?to (?:continue|keep|read|unlock)\b
        \bto (?:continue|keep) reading\b
        \bis (?:(?:only|available|reserved|exclusive(?:ly)?) ){0,3}(?:to|for) (?:\w+ )?subscribers\b
        \balready a (?:subscriber|member)\?
        \bunlock (?:this|the full) (?:article|story)\b
        \b(?:artikel|inhalt) (?:nur )?für abonnenten\b
        \bréservé aux abonnés\b
    """)),
    Sign("login", "the page is behind a login", SMALL, _any(r"""
        \b(?:log|sign)[ -]?in to (?:continue|view|see|access|read|proceed|your account|facebook|instagram|x|linkedin)\b
        \b(?:log|sign)[ -]?in or (?:sign|register|create)[^.]{0,30} to (?:continue|view|see|access|read)\b
        \byou (?:must|need to|have to) (?:be (?:logged|signed) in|(?:log|sign) in)\b
        \b(?:login|sign-in|authentication) (?:is )?required\b
        \bbitte (?:loggen|melden) sie sich\b
        \bveuillez vous (?:connecter|identifier)\b
        \bjoin linkedin\b
    """)),
)  # fmt: skip

LOGIN_TITLE = _any(r"""
    \b(?:log|sign)[ -]?in\b
    \blogon\b
    \banmeld(?:en|ung)\b
    \bconnexion\b
    \biniciar sesión\b
    \baccedi\b
""")
ASKS_FOR_SCRIPTS = _any(r"""
    \b(?:enable|activate|turn on|allow|aktivieren|activer|activar)\b[^.]{0,40}\b(?:javascript|js)\b
    \b(?:javascript|js)\b[^.]{0,40}\b(?:disabled|required|not enabled|turned off|blocked|enabled?|aktiv\w*|activ\w*)\b
    \b(?:requires?|needs?|without|ohne|sans|sin) javascript\b
""")
# The element in which frameworks render the page.
ROOT = re.compile(
    r"<app-root\b|<(?:div|main)\b[^>]{0,200}\bid\s*=\s*[\"']?"
    r"(?:root|app|__next|__nuxt|___gatsby|main-app|q-app|react-root|svelte|mount)[\"'\s>]",
    re.IGNORECASE,
)
WAITS = re.compile(
    r"\W*(?:loading|please wait|lädt|chargement|cargando|redirecting)\b.{0,60}", re.IGNORECASE | re.DOTALL
)
MISSING = _any(r"""
    ^\W*(?:error\W{0,3})?(?:404|410)\b
    \b(?:error|http|status|code)\W{0,3}(?:404|410)\b
    \b404\W{0,4}(?:error|not found|page|file)
    \bpage (?:was |is |could |can)?(?:not|n't)(?: be)? found\b
    \bpage (?:you (?:requested|are looking for|were looking for)[^.]{0,30} )?(?:does not|doesn't|no longer) exists?\b
    \b(?:can't|cannot|couldn't|could not) find (?:that|this|the) page\b
    ^\W*(?:page |file )?not found\W*$
    \bseite (?:wurde )?nicht gefunden\b
    \bpage (?:introuvable|non trouvée)\b
    \bpágina no encontrada\b
""")
CONSENT = _any(r"""
    \bcookies?\b
    \b(?:consent|partners?|privacy|gdpr)\b
    \b(?:personal data|legitimate interest)\b
    \b(?:einwilligung|datenschutz|zustimm\w*)\b
""")
