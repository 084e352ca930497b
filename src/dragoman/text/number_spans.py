"""The pattern of a number with all that belongs to it: sign, currency, unit, time."""

_LETTER = "A-Za-zÀ-ɏ"
# Units that are written alike in most languages, where they stand against the number.
_UNIT = (
    r"(?:km/h|m/s|mph|fps|dpi|px|em|pt|ms|µs|[kKMGT]i?[Bb]|[kKMG]?Hz|[kKMG]?[JWV]"
    r"|[kcmµn]?m[²³]?|[kmµ]?g|[mcd]?l|[hm]?Pa)"
)
# "1,234.56", "10:30", "2013-05-01", "3/4", "1.2.3", "10–12", "1 234" with its blanks.
_DIGITS = (
    r"(?:\d{1,3}(?:[\u00a0\u202f ]\d{3})+(?!\d)(?:[.,]\d+)?"
    r"|\d+(?:[.,:/'’\-–−]\d+)*)"
)
_BEFORE = (
    r"(?:(?<![\w.,)\]])[+\-−±]?(?:(?:US|CA|AU)?[$€£¥₩₹]\s?)?[+\-−]?(?<!\d)\.?)"  # -$.5
)
_AFTER = (
    r"(?:[%‰]|[\u00a0\u202f ][%‰](?![\w({%])"
    rf"|\s?°\s?[CF]?(?![{_LETTER}])|\s?[€£¥₩₹]|{_UNIT}(?!\w))?"
)
_PHONE = (
    r"(?<![\w+])(?:\+\d[\d \-()./]{5,24}\d|\(\d{2,5}\)[ \-]?\d[\d \-]{4,20}\d"
    r"|\d{2,5}(?:[ \-]\d{2,5}){2,6})(?!\w)"
)
# "MP3", "A4", "G-7", "v2.10.3", "3D", "4x4": what mixes letters and digits is a name.
_MIXED = (
    rf"(?<!\w)(?:[{_LETTER}]{{1,24}}|[A-Z]{{1,5}}-)\d+(?:[.\-]?[{_LETTER}\d]+)*"
    rf"|(?<!\w)\d+(?:[A-Z](?![a-z]))[{_LETTER}\d]*|(?<!\w)\d+x\d+(?!\w)"
)

NUMBER = rf"{_MIXED}|{_PHONE}|{_BEFORE}?{_DIGITS}{_AFTER}"
