"""Small numbers in words, so that "twenty" counts as right for 20."""

from functools import cache

_SMALL = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve "
    "thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece "
    "catorce quince dieciséis diecisiete dieciocho diecinueve veinte veintiuno "
    "veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho "
    "veintinueve",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf "
    "dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize "
    "quatorze quinze seize dix-sept dix-huit dix-neuf",
}
_TENS = {
    "en": "ten twenty thirty forty fifty sixty seventy eighty ninety",
    "es": "diez veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "de": "zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "dix vingt trente quarante cinquante soixante",
}
_SPANISH_HUNDREDS = (
    "ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos "
    "ochocientos novecientos"
)
# Words that may stand for one; but as articles they say too little to count as it.
_ONES = {
    "es": ("un", "una"),
    "de": ("ein", "eine", "einen", "einem", "einer", "eines"),
    "fr": ("un", "une"),
    "en": ("one", "a", "an"),
}
LANGUAGES = tuple(_ONES)
# What says a number without being one of the words above.
_OTHERS = {
    "en": "half quarter noon midnight dozen dozens hundred hundreds thousand thousands "
    "million millions billion both twice once first second third fourth fifth sixth "
    "seventh eighth ninth tenth couple double triple o'clock past",
    "es": "medio media cuarto cuartos mediodía medianoche docena docenas cien ciento "
    "cientos mil miles millón millones ambos primero segundo tercero par doble",
    "de": "halb halbe viertel mittag mitternacht dutzend hundert tausend million "
    "millionen milliarden beide zweimal einmal erste zweite dritte paar doppelt uhr",
    "fr": "demi demie quart midi minuit douzaine cent cents mille million millions "
    "deux premier première deuxième troisième couple double heures heure",
}


@cache
def spelled_out(number: int | None, language: str) -> tuple[str, ...]:
    """Give a number in words, in the forms that a language has for it, if we know."""
    if number is None or language not in _ONES:
        return ()
    if number == 1:  # French has no word for it but the article
        return () if language == "fr" else (_below_hundred(1, language),)
    if number < 100:
        return _with_genders(_below_hundred(number, language), language)
    if number < 1000 and number % 100 == 0:
        return _hundreds(number // 100, language)
    if number < 1_000_000 and number % 1000 == 0:
        return _thousands(number // 1000, language)
    return ()


@cache
def spelled_time(hours: int, minutes: int, language: str) -> tuple[str, ...]:
    """Give a time of day in words, as far as we know how it is said."""
    if language not in _ONES or not 0 < hours <= 12 or minutes > 59:
        return ()
    hour, following = (_hour(h, language) for h in (hours, hours % 12 + 1))
    minute = _below_hundred(minutes, language)
    match language, minutes:
        case "en", 0:
            return f"{hour} o'clock", hour
        case "en", _:
            quarters = {15: f"quarter past {hour}", 45: f"quarter to {following}"}
            half = {30: f"half past {hour}"}
            return _said(quarters | half, minutes, f"{hour} {minute}")
        case "es", 0:
            return (f"las {hour}",) if hours > 1 else ("la una",)
        case "es", _:
            parts = {15: "cuarto", 30: "media"}
            said = {m: f"{hour} y {part}" for m, part in parts.items()}
            said[45] = f"{following} menos cuarto"
            return _said(said, minutes, f"{hour} y {minute}")
        case "de", 0:
            return f"{hour} Uhr", f"um {hour}"
        case "de", _:
            said = {15: f"Viertel nach {hour}", 45: f"Viertel vor {following}"}
            said[30] = f"halb {_below_hundred(hours % 12 + 1, 'de')}"
            return _said(said, minutes, f"{hour} Uhr {minute}")
        case _:
            hour_word = f"{hour} heure{'s' * (hours > 1)}"
            said = {0: hour_word, 15: f"{hour_word} et quart"}
            said[30] = f"{hour_word} et demie"
            return _said(said, minutes, f"{hour_word} {minute}")


def _hour(hours: int, language: str) -> str:
    feminine = {"es": "una", "de": "ein", "fr": "une", "en": "one"}
    return feminine[language] if hours == 1 else _below_hundred(hours, language)


def _said(special: dict[int, str], minutes: int, plain: str) -> tuple[str, ...]:
    return (special[minutes], plain) if minutes in special else (plain,)


def _below_hundred(number: int, language: str) -> str:
    small = _SMALL[language].split()
    if number < len(small):
        return small[number]
    if language == "fr" and number >= 70:
        return _high_french(number)
    tens, ones = divmod(number, 10)
    ten = _TENS[language].split()[tens - 1]
    if not ones:
        return ten
    match language:
        case "en":
            return f"{ten}-{small[ones]}"
        case "es":
            return f"{ten} y {small[ones]}"
        case "de":
            return f"{small[ones].removesuffix('s' if ones == 1 else '')}und{ten}"
        case _:
            return f"{ten}{' et ' if ones == 1 else '-'}{small[ones]}"


def _high_french(number: int) -> str:
    if number == 80:
        return "quatre-vingts"
    ten, less = ("soixante", 60) if number < 80 else ("quatre-vingt", 80)
    rest = _below_hundred(number - less, "fr")
    return f"{ten}{' et ' if number == 71 else '-'}{rest}"


def _with_genders(word: str, language: str) -> tuple[str, ...]:
    match language:
        case "es" if word.endswith("uno"):
            stem = word.removesuffix("uno")
            short = f"{stem}ún" if stem.endswith("ti") else f"{stem}un"
            return word, short, f"{stem}una"
        case "fr" if word.endswith("un"):
            return word, f"{word}e", word.replace(" ", "-")
        case "en" if "-" in word:
            return word, word.replace("-", " ")
    return (word,)


def _hundreds(count: int, language: str) -> tuple[str, ...]:
    many = _below_hundred(count, language)
    match language:
        case "en":
            alone = ("a hundred", "hundred") if count == 1 else ()
            return (f"{many} hundred", *alone)
        case "es":
            if count == 1:
                return "cien", "ciento"
            word = _SPANISH_HUNDREDS.split()[count - 1]
            return word, f"{word[:-2]}as"
        case "de":
            return (f"{many}hundert",) if count > 1 else ("hundert", "einhundert")
        case _:
            return (f"{many} cents", f"{many} cent") if count > 1 else ("cent",)


def _thousands(count: int, language: str) -> tuple[str, ...]:
    word = {"en": " thousand", "es": " mil", "de": "tausend", "fr": " mille"}[language]
    if count == 1:
        alone = word.strip()
        return (alone,) if language != "en" else ("one thousand", "a thousand")
    return tuple(form + word for form in spelled_out(count, language))


@cache
def number_words(language: str) -> frozenset[str]:
    """Give the words of a language that may become digits; none if we do not know."""
    if language not in _ONES:
        return frozenset()
    small = (form for n in range(100) for form in spelled_out(n, language))
    parts = {part for form in small for part in form.replace("-", " ").split()}
    parts |= set(_ONES[language])
    ordinary = {"a", "an", "y", "et", "und"}
    return frozenset(parts - ordinary | set(_OTHERS[language].split()))
