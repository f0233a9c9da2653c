"""Month, weekday and other names in locale en_US, and the known time zone names."""

from __future__ import annotations

__all__ = ["AM_PM", "ERAS", "LONG_MONTHS", "LONG_WEEKDAYS", "SHORT_MONTHS", "SHORT_WEEKDAYS", "ZONE_MINUTES", "longest"]

ERAS = ("BC", "AD")
AM_PM = ("AM", "PM")
LONG_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
SHORT_MONTHS = tuple(name[:3] for name in LONG_MONTHS)
LONG_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
SHORT_WEEKDAYS = tuple(name[:3] for name in LONG_WEEKDAYS)

_ZONES: dict[int, str] = {
    -600: "HST|Hawaii-Aleutian Standard Time|Hawaii Standard Time",
    -540: "AKST|Alaska Standard Time",
    -480: "PST|Pacific Standard Time|AKDT|Alaska Daylight Time",
    -420: "MST|Mountain Standard Time|PDT|Pacific Daylight Time",
    -360: "CST|Central Standard Time|MDT|Mountain Daylight Time",
    -300: "EST|Eastern Standard Time|CDT|Central Daylight Time",
    -240: "AST|Atlantic Standard Time|EDT|Eastern Daylight Time|CLT",
    -210: "NST|Newfoundland Standard Time",
    -180: "ADT|Atlantic Daylight Time|BRT|ART",
    -150: "NDT|Newfoundland Daylight Time",
    0: "UTC|Coordinated Universal Time|Greenwich Mean Time|WET|Western European Standard Time",
    60: "CET|Central European Standard Time|Central European Time|BST|British Summer Time|WAT|MET|"
    "WEST|Western European Summer Time",
    120: "CEST|Central European Summer Time|EET|Eastern European Standard Time|Eastern European Time|"
    "IST|Israel Standard Time|SAST|South Africa Standard Time|CAT|Central Africa Time|MEST",
    180: "EEST|Eastern European Summer Time|MSK|Moscow Standard Time|EAT|East Africa Time",
    300: "PKT|Pakistan Standard Time",
    330: "India Standard Time",
    420: "ICT|Indochina Time",
    480: "SGT|Singapore Standard Time|HKT|Hong Kong Standard Time|China Standard Time|"
    "AWST|Australian Western Standard Time",
    540: "JST|Japan Standard Time|KST|Korean Standard Time",
    570: "ACST|Australian Central Standard Time",
    600: "AEST|Australian Eastern Standard Time",
    660: "AEDT|Australian Eastern Daylight Time",
    720: "NZST|New Zealand Standard Time",
    780: "NZDT|New Zealand Daylight Time",
}
ZONE_MINUTES: dict[str, int] = {name: minutes for minutes, names in _ZONES.items() for name in names.split("|")}
"""Minutes east of Greenwich by zone name; a selection of the JDK's names."""


def longest(text: str, start: int, names: tuple[str, ...]) -> tuple[int, int] | None:
    """Return index and length of the longest name that begins at ``start``, ignoring case."""
    here = text[start:].upper()
    matches = [(len(name), index) for index, name in enumerate(names) if here.startswith(name.upper())]
    if not matches:
        return None
    size = max(matches)[0]
    return next(index for length, index in matches if length == size), size
