"""The unmodified clients of other services, and bodies that programs send."""

from pathlib import Path

import deepl
import pytest
import requests
from deepl.api_data import MultilingualGlossaryDictionaryEntries
from libretranslatepy import LibreTranslateAPI
from tests.serving.conftest import Running


@pytest.fixture
def client(server: Running) -> deepl.DeepLClient:
    return deepl.DeepLClient("any-key", server_url=server.url)


def test_libretranslatepy_translates_lists_and_detects(server: Running) -> None:
    api = LibreTranslateAPI(server.url)
    assert api.translate("Good morning!", "en", "es").strip()
    [english, spanish] = api.languages()
    assert english["code"] == "en"
    assert "es" in english["targets"]
    assert spanish["name"] == "Spanish"
    assert api.detect("Good morning!")[0]["language"] == "en"


def test_deepl_translates_and_counts(client: deepl.DeepLClient) -> None:
    before = client.get_usage().character.count
    texts = ["Good morning!", "Number 12345."]
    results = client.translate_text(texts, target_lang="ES")
    assert isinstance(results, list)
    assert [r.detected_source_lang for r in results] == ["EN", "EN"]
    assert [r.billed_characters for r in results] == list(map(len, texts))
    assert "12345" in results[1].text
    after = client.get_usage().character.count
    assert before is not None
    assert after == before + sum(map(len, texts))


def test_deepl_keeps_what_weblate_marks(client: deepl.DeepLClient) -> None:
    text = 'Good <x id="7"></x> morning, <g id="1">my friend</g>!'
    result = client.translate_text(
        text, source_lang="EN", target_lang="ES", tag_handling="xml", ignore_tags=["x"]
    )
    assert isinstance(result, deepl.TextResult)
    assert result.text.count('<x id="7"></x>') == 1
    assert result.text.count('<g id="1">') == result.text.count("</g>") == 1


def test_deepl_knows_the_languages(client: deepl.DeepLClient) -> None:
    assert [str(one) for one in client.get_source_languages()] == ["EN"]
    [spanish] = client.get_target_languages()
    assert str(spanish) == "ES"
    assert spanish.supports_formality is False
    assert [str(p.target_lang) for p in client.get_glossary_languages()] == ["es"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target_lang": "JA"}, "'target_lang' not supported"),
        (
            {"target_lang": "ES", "formality": "more"},
            "Target language ES .* 'formality",
        ),
        ({"target_lang": "ES", "source_lang": "ES"}, "'source_lang' not supported"),
    ],
)
def test_deepl_says_what_is_not_supported(
    client: deepl.DeepLClient, options: dict[str, str], message: str
) -> None:
    with pytest.raises(deepl.DeepLException, match=message):
        client.translate_text("x", **options)


def test_deepl_formality_that_is_only_preferred_is_let_go(
    client: deepl.DeepLClient,
) -> None:
    client.translate_text("x", target_lang="ES", formality="prefer_less", context="y")


def test_deepl_glossaries_of_version_2(client: deepl.DeepLClient) -> None:
    made = client.create_glossary("mine", "EN", "ES", {"friend": "compadre"})
    assert made.entry_count == 1
    assert client.get_glossary_entries(made) == {"friend": "compadre"}
    assert made.glossary_id in [one.glossary_id for one in client.list_glossaries()]
    result = client.translate_text(
        "My friend", source_lang="EN", target_lang="ES", glossary=made
    )
    assert isinstance(result, deepl.TextResult)
    assert "compadre" in result.text
    client.delete_glossary(made)
    with pytest.raises(deepl.GlossaryNotFoundException):
        client.get_glossary(made.glossary_id)


def test_deepl_glossaries_of_version_3(client: deepl.DeepLClient) -> None:
    one = MultilingualGlossaryDictionaryEntries("EN", "ES", {"dog": "can"})
    made = client.create_multilingual_glossary("several", [one])
    number = made.glossary_id
    more = MultilingualGlossaryDictionaryEntries("EN", "ES", {"cat": "minino"})
    client.update_multilingual_glossary_dictionary(number, more)
    entries = client.get_multilingual_glossary_entries(number, "EN", "ES")
    assert entries.dictionaries[0].entries == "dog\tcan\ncat\tminino"
    client.update_multilingual_glossary_name(number, "renamed")
    assert client.get_multilingual_glossary(number).name == "renamed"
    client.replace_multilingual_glossary_dictionary(number, more)
    entries = client.get_multilingual_glossary_entries(number, "EN", "ES")
    assert entries.dictionaries[0].entries == "cat\tminino"
    client.delete_multilingual_glossary(number)
    with pytest.raises(deepl.DeepLException):
        client.get_multilingual_glossary(number)


def test_deepl_documents(client: deepl.DeepLClient, tmp_path: Path) -> None:
    page, out = tmp_path / "page.html", tmp_path / "out.html"
    page.write_text("<p>Good <b>morning</b>.</p><script>a < b</script>")
    done = client.translate_document_from_filepath(page, out, target_lang="ES")
    assert done.done
    assert done.billed_characters == len(page.read_text())
    written = out.read_text()
    assert written.startswith("<p>")
    assert written.endswith("</p><script>a < b</script>")
    assert written.count("<b>") == 1
    odd = tmp_path / "a.docx"
    odd.write_text("x")
    with pytest.raises(deepl.DeepLException, match=r"end in \.docx"):
        client.translate_document_from_filepath(odd, out, target_lang="ES")


def test_rephrasing_is_said_not_to_be_offered(client: deepl.DeepLClient) -> None:
    with pytest.raises(deepl.DeepLException, match="does not offer rephrasing"):
        client.rephrase_text("x", target_lang="ES")


def test_what_mastodon_sends(server: Running) -> None:
    body = {"q": ["<p>Good morning</p>", "x &lt;script&gt;"], "source": "en"}
    answer = server.post("/translate", body | {"target": "es", "format": "html"}).json()
    [first, second] = answer["translatedText"]
    assert first.startswith("<p>")
    assert "<script" not in second
    assert "&lt;script&gt;" in second
    auto = server.post("/translate", body | {"source": "auto", "target": "es"}).json()
    assert [one["language"] for one in auto["detectedLanguage"]] == ["en", "en"]


def test_what_discourse_and_weblate_send(server: Running) -> None:
    form = {"q": "Good morning", "source": "auto", "target": "es", "api_key": ""}
    sent = requests.post(f"{server.url}/translate", data=form, timeout=60)
    assert isinstance(sent.json()["translatedText"], str)
    weblate = {"api_key": "", "q": ["Good morning"], "source": "en", "target": "es"}
    answer = server.post("/translate", weblate).json()
    assert isinstance(answer["translatedText"], list)
    listed = requests.get(f"{server.url}/languages", data={"x": "y"}, timeout=60)
    assert {one["code"] for one in listed.json()} == {"en", "es"}


def test_opus_cat_does_not_mind_capitals(server: Running) -> None:
    for path in ("MTRestService/TranslateJson", "mtrestservice/translatejson"):
        query = "input=Number%2012345&srcLangCode=en&trgLangCode=es&tokenCode=0"
        assert "12345" in server.get(f"/{path}?{query}").json()["translation"]
    pairs = server.get("/MTRestService/ListSupportedLanguagePairs").json()
    assert pairs == ["en-es"]
    batch = {"input": ["a", "b"], "srcLangCode": "en", "trgLangCode": "es"}
    assert server.post("/MTRestService/PreOrderBatch", batch).ok


def test_opennmt_and_mtuoc_are_answered_in_kind(server: Running) -> None:
    [row] = server.post("/translator/translate", [{"src": "12345", "id": 4}]).json()
    assert row[0]["id"] == 4
    assert "12345" in row[0]["tgt"]
    one = server.post("/translator/translate", {"src": "12345", "id": 4}).json()
    assert one["id"] == 4
    assert "12345" in one["tgt"]
