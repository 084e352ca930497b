"""A slip on the command line is answered in one line, with the nearest right word."""

import pytest

from dragoman.cli.main import GROUPS, build_parser, main

SLIPS = [
    (
        "trian m",
        "dragoman: there is no command 'trian' (did you mean 'train'?): see "
        "`dragoman --help`",
    ),
    ("", "dragoman: COMMAND is missing: see `dragoman --help`"),
    (
        "train m --presset tiny",
        "dragoman train: there is no option '--presset' (did you mean '--preset'?): "
        "see `dragoman train --help`",
    ),
    (
        "translate m --bem=4 Hello",
        "dragoman translate: there is no option '--bem' (did you mean '--beam'?): see "
        "`dragoman translate --help`",
    ),
    (
        "train m --task lmm",
        "dragoman train: argument --task: there is no 'lmm' (did you mean 'lm'?): "
        "choose one of translation, lm, mlm",
    ),
    (
        "completion tcsh",
        "dragoman completion: argument shell: there is no 'tcsh': choose one of bash, "
        "zsh, fish",
    ),
    (
        "translate",
        "dragoman translate: MODEL is missing: see `dragoman translate --help`",
    ),
    (
        "data gett x y",
        "dragoman data: there is no command 'gett' (did you mean 'get'?): see "
        "`dragoman data --help`",
    ),
    (
        "data get",
        "dragoman data get: NAME, DIR are missing: see `dragoman data get --help`",
    ),
    (
        "inspect m one two",
        "dragoman inspect: 'two' is one argument too many: see "
        "`dragoman inspect --help`",
    ),
    (
        "train m --steps many",
        "dragoman train: argument --steps: 'many' is not a whole number above 0",
    ),
]


@pytest.mark.parametrize(("typed", "answer"), SLIPS)
def test_a_slip_is_one_line(
    typed: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(typed.split())
    assert ended.value.code == 2
    assert capsys.readouterr() == ("", f"{answer}\n")


def test_the_list_of_commands_is_grouped_and_keeps_capitals() -> None:
    text = build_parser().format_help()
    places = [text.index(f"\n{group}:\n") for group in GROUPS]
    assert places == sorted(places)
    assert "BLEU, chrF2 and TER by sacreBLEU" in text
    assert "in the folder MODEL" in text
    assert "\n  import      Import a model" in text
    assert all(len(line) < 90 for line in text.splitlines())
    assert build_parser().format_usage().endswith("COMMAND ...\n")
