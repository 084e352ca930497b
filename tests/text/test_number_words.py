import pytest

from dragoman.text.number_words import number_words, spelled_out, spelled_time


@pytest.mark.parametrize(
    ("number", "language", "words"),
    [
        (0, "en", "zero"),
        (21, "en", "twenty-one"),
        (300, "en", "three hundred"),
        (16, "es", "dieciséis"),
        (31, "es", "treinta y un"),
        (500, "es", "quinientas"),
        (10_000, "es", "diez mil"),
        (21, "de", "einundzwanzig"),
        (77, "de", "siebenundsiebzig"),
        (2000, "de", "zweitausend"),
        (71, "fr", "soixante et onze"),
        (80, "fr", "quatre-vingts"),
        (97, "fr", "quatre-vingt-dix-sept"),
        (21, "fr", "vingt et une"),
    ],
)
def test_small_numbers_are_known_in_words(
    number: int, language: str, words: str
) -> None:
    assert words in spelled_out(number, language)


@pytest.mark.parametrize("language", ["en", "es", "de", "fr"])
def test_no_two_numbers_have_a_word_in_common(language: str) -> None:
    spelled = [form for n in range(101) for form in set(spelled_out(n, language))]
    assert len(spelled) == len(set(spelled))


def test_an_article_is_no_number() -> None:
    assert "un" not in spelled_out(1, "es") + spelled_out(1, "fr")
    assert "ein" not in spelled_out(1, "de")


@pytest.mark.parametrize(
    ("time", "language", "words"),
    [
        ((2, 30), "es", "dos y media"),
        ((7, 0), "es", "las siete"),
        ((2, 30), "de", "halb drei"),
        ((12, 30), "de", "halb eins"),
        ((3, 15), "de", "Viertel nach drei"),
        ((2, 30), "fr", "deux heures et demie"),
        ((2, 30), "en", "half past two"),
        ((4, 45), "en", "quarter to five"),
    ],
)
def test_times_are_known_in_words(
    time: tuple[int, int], language: str, words: str
) -> None:
    assert words in spelled_time(*time, language)


def test_what_is_not_known_has_no_words() -> None:
    assert spelled_out(5, "xx") == spelled_out(None, "es") == ()
    assert spelled_out(1234, "es") == spelled_time(2, 30, "xx") == ()
    assert not number_words("xx")
    assert {"twelve", "noon", "dozen"} <= number_words("en")
