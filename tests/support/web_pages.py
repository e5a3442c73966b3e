"""Pages that only stand in the way of a page, as sites send them with status 200, and pages that look like them.

Written for these tests after what such pages have in common; the names are made up.
"""

# ruff: noqa: E501 - markup is easier to read in long lines

from __future__ import annotations

from dataclasses import dataclass

_SCRIPTS = '<script src="/static/js/main.4f3a.js" defer></script><link rel="stylesheet" href="/main.css">'
_PROSE = "The bridge over the river was opened in 1894 after eight years of work by four hundred men. "
_FOOTER = "<footer><a href='/terms'>Terms</a> <a href='/privacy'>Privacy</a> <a href='/help'>Help</a></footer>"


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page and the verdict that reading it should end in; `None` for a page that is one."""

    name: str
    verdict: str | None
    html: str


def _page(title: str, body: str, head: str = "") -> str:
    return f"<!doctype html><html lang='en'><head><title>{title}</title>{head}</head><body>{body}</body></html>"


OBSTACLES = (
    WebPage("cloudflare challenge", "captcha", _page(
        "Just a moment...", "<noscript><div id='challenge-error-text'>Enable JavaScript and cookies to continue</div></noscript>"
        "<script>(function(){window._cf_chl_opt={cType:'managed'};})();</script>")),
    WebPage("cloudflare challenge with text", "captcha", _page(
        "Just a moment...", "<h1>a.example</h1><p>Verifying you are human. This may take a few seconds.</p><p>a.example needs to"
        " review the security of your connection before proceeding.</p>")),
    WebPage("cloudflare in german", "captcha", _page("Nur einen Moment…", "<script>window._cf_chl_opt = {}</script><h1>a.example</h1>")),
    WebPage("cloudflare block", "blocked", _page(
        "Attention Required! | Cloudflare", "<h1>Sorry, you have been blocked</h1><h2>You are unable to access a.example</h2>"
        "<p>This website is using a security service to protect itself from online attacks. The action you just performed"
        " triggered the security solution.</p><p>Cloudflare Ray ID: 8a1</p>")),
    WebPage("cloudflare rate", "blocked", _page(
        "Access denied | a.example used Cloudflare to restrict access", "<h1>Error 1015</h1><h2>You are being rate limited</h2>")),
    WebPage("imperva", "blocked", _page(
        "", "<iframe src='/_Incapsula_Resource?SWUDNSAI=31&xinfo=9-1&incident_id=5&edet=12'>Request unsuccessful."
        " Incapsula incident ID: 5-1</iframe>")),
    WebPage("datadome", "captcha", _page(
        "a.example", "<p id='cmsg'>Please enable JS and disable any ad blocker</p><script>var dd={'rt':'c',"
        "'host':'geo.captcha-delivery.com'}</script><script src='https://ct.captcha-delivery.com/c.js'></script>")),
    WebPage("perimeterx", "captcha", _page(
        "Access to this page has been denied", "<h1>Press &amp; Hold to confirm you are a human (and not a bot).</h1>"
        "<div id='px-captcha'></div><p>Reference ID 1</p>")),
    WebPage("akamai", "blocked", _page(
        "Access Denied", "<h1>Access Denied</h1>You don't have permission to access \"http://a.example/x\" on this server.<p>"
        "Reference #18.1</p>")),
    WebPage("akamai challenge", "captcha", _page(
        "", "<div id='sec-if-cpt-container'></div><script src='/_sec/cp_challenge/x.js'></script>")),
    WebPage("aws waf", "captcha", _page(
        "", "<div id='challenge-container'></div><script>AwsWafIntegration.checkForceRefresh()</script><noscript>"
        "<h1>JavaScript is disabled</h1>In order to continue, we need to verify that you're not a robot.</noscript>")),
    WebPage("pardon our interruption", "captcha", _page(
        "Pardon Our Interruption", "<h1>Pardon Our Interruption...</h1><p>As you were browsing something about your browser made"
        " us think you were a bot.</p><ul><li>You're a power user moving through this website with super-human speed.</li>"
        "<li>You've disabled cookies in your web browser.</li></ul>")),
    WebPage("search engine", "captcha", _page(
        "https://a.example/search", "<form id='captcha-form'><div class='g-recaptcha'></div></form><p>About this page</p><p>Our"
        " systems have detected unusual traffic from your computer network.</p>")),
    WebPage("shop", "captcha", _page(
        "a.example", "<h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure you're not a robot.</p>")),
    WebPage("proof of work", "captcha", _page(
        "Making sure you're not a bot!", "<h1>Making sure you're not a bot!</h1><p>Loading...</p><p>You are seeing this because"
        " the administrator of this website has set up a guard against the scourge of companies scraping websites.</p>")),
    WebPage("network security", "blocked", _page(
        "Blocked", "<p>You've been blocked by network security.</p><p>To continue, log in to your account or use your developer"
        " token.</p>")),
    WebPage("firewall", "blocked", _page(
        "Request Rejected", "The requested URL was rejected. Please consult with your administrator.<br>Your support ID is: 1")),
    WebPage("content network", "blocked", _page(
        "ERROR: The request could not be satisfied", "<h1>403 ERROR</h1><h2>The request could not be satisfied.</h2>Request"
        " blocked. We can't connect to the server for this app or website at this time.")),
    WebPage("server 403", "blocked", _page("403 Forbidden", "<center><h1>403 Forbidden</h1></center><hr>nginx")),
    WebPage("rate limit", "blocked", _page(
        "Whoa there!", "<h1>Too many requests</h1><p>You have sent more requests than this service allows. Try again later.</p>")),
    WebPage("region", "blocked", _page(
        "a.example", "<h1>Sorry</h1><p>This content is not available in your country due to regulations.</p>")),
    WebPage("legal reasons", "blocked", _page("451", "<h1>451: Unavailable due to legal reasons</h1><p>We recognize you are"
        " attempting to access this website from a country of the European Economic Area.</p>")),
    WebPage("ad blocker", "blocked", _page("a.example", "<p>Please turn off your ad blocker to support our work.</p>")),
    WebPage("consent of a search engine", "blocked", _page(
        "Before you continue to Google", f"<h1>Before you continue to Google</h1><p>We use cookies and data to deliver and maintain"
        f" services, track outages and protect against spam.</p>{'<p>Personalized content depends on things like it.</p>' * 20}")),
    WebPage("cookie wall", "blocked", _page(
        "a.example", "<h2>Your privacy</h2><p>We and our 842 partners store cookies on your device and process personal data with"
        " your consent. Some partners rely on legitimate interest. You can withdraw your consent in our privacy policy.</p>"
        "<p>Accept all cookies, or reject all but necessary cookies.</p><a href='/partners'>Our partners</a>")),
    WebPage("paywall", "login", _page(
        "Inside the bridge", f"<h1>Inside the bridge</h1><p>{_PROSE}</p><div>Subscribe to continue reading. Already a subscriber?"
        " Sign in.</div>" + _FOOTER)),
    WebPage("paywall in german", "login", _page("Die Brücke", "<h1>Die Brücke</h1><p>Dieser Artikel ist nur für Abonnenten.</p>"
        "<p>Artikel nur für Abonnenten</p>")),
    WebPage("login form", "login", _page(
        "Log in - a.example", "<h1>Welcome back</h1><form><label>E-mail</label><input name='u'><label>Password</label><input"
        " type='password' name='p'><button>Log in</button></form><p>Forgot password?</p>" + _FOOTER)),
    WebPage("members", "login", _page("a.example", "<p>You must be logged in to view this topic.</p>" + _FOOTER)),
    WebPage("social network", "login", _page(
        "a.example", "<h1>Join LinkedIn</h1><p>Make the most of your professional life</p>" + _FOOTER)),
    WebPage("react shell", "needs_javascript", _page(
        "React App", "<noscript>You need to enable JavaScript to run this app.</noscript><div id='root'></div>", _SCRIPTS)),
    WebPage("vue shell", "needs_javascript", _page(
        "a.example", "<noscript><strong>We're sorry but a.example doesn't work properly without JavaScript enabled.</strong>"
        "</noscript><div id=app></div>" + _SCRIPTS)),
    WebPage("next shell", "needs_javascript", _page(
        "a.example", "<div id='__next'><div class='spinner'></div></div><script id='__NEXT_DATA__' type='application/json'>"
        "{\"props\":{}}</script>" + _SCRIPTS)),
    WebPage("angular shell", "needs_javascript", _page("a.example", "<app-root></app-root>" + _SCRIPTS)),
    WebPage("spinner", "needs_javascript", _page("a.example", "<div class='boot'>Loading, please wait…</div>" + _SCRIPTS)),
    WebPage("told to enable", "needs_javascript", _page(
        "x / a.example", "<h1>JavaScript is not available.</h1><p>We've detected that JavaScript is disabled in this browser. Please"
        " enable JavaScript or switch to a supported browser.</p>" + _SCRIPTS)),
    WebPage("forum shell", "needs_javascript", _page(
        "A thread", "<div class='dots'></div>", "<link rel='modulepreload' href='/app.js'>")),
    WebPage("no text", "empty", _page("a.example", "<div class='wrap'><img src='x.png' alt='x'></div>")),
    WebPage("soft 404", "missing", _page(
        "Page not found - a.example", "<nav><a href='/'>Home</a></nav><h1>Oops!</h1><p>It seems that the page you were looking for"
        " has moved. Try a search.</p>" + _FOOTER)),
    WebPage("soft 404 by heading", "missing", _page(
        "a.example", "<h1>404</h1><p>We could not find what you were looking for.</p>" + _FOOTER)),
    WebPage("soft 404 in french", "missing", _page("Page introuvable | a.example", "<p>Désolé.</p>" + _FOOTER)),
)  # fmt: skip

_LONG = f"<p>{_PROSE * 10}</p>" * 3
PAGES = (
    WebPage("about 404", None, _page("404 pages that people like", f"<h1>404 pages that people like</h1>{_LONG}")),
    WebPage("about captchas", None, _page(
        "How captchas work", f"<h1>How captchas work</h1><p>You are asked: are you a robot? I'm not a robot.</p>{_LONG}")),
    WebPage("guarded and served", None, _page(
        "Bridges", f"<h1>Bridges</h1><p>{_PROSE}</p>", "<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>"
        "<script src='/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e6fffd425f7e032f3'></script>")),
    WebPage("application with its text", None, _page(
        "Bridges", f"<noscript>You need to enable JavaScript to run this app.</noscript><div id='root'><p>{_PROSE * 3}</p></div>",
        _SCRIPTS)),
    WebPage("short and complete", None, _page("Opening hours", "<h1>Opening hours</h1><p>Monday to Friday, 9 to 17.</p>")),
    WebPage("with a contact form", None, _page(
        "Contact", "<h1>Contact</h1><p>Write to us at 1 Bridge Street.</p><form><div class='g-recaptcha'></div></form>" + _SCRIPTS)),
    WebPage("article with a login in its head", None, _page(
        "Sign in sheets of the bridge", f"<form><input type='password'></form><article>{_LONG}</article>")),
    WebPage("article with a banner", None, _page(
        "Bridges", f"<div>We use cookies. Accept cookies? Cookie settings. Our partners. Privacy.</div><article>{_LONG}</article>")),
    WebPage("free article that asks for money", None, _page("Bridges", f"<article>{_LONG}</article><p>Subscribe to keep"
        " reading stories like this.</p>")),
)  # fmt: skip
