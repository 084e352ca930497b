"""All results on one page for someone who is learning; it needs no network.

The page holds no script at all, and its policy allows none.
"""

import base64
import hashlib
import html
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from dragoman import durable
from dragoman.errors import LabError
from dragoman.lab.catalogue import EXPERIMENTS
from dragoman.lab.findings import Claim, Outcome, Table
from dragoman.lab.result import PLOTS, Result, cell_text, read_result

REPORT = "report.html"

_CLASSES: dict[Outcome, str] = {
    "held": "held",
    "held in part": "open",
    "did not hold": "against",
    "could not be decided": "open",
}
_QUICK = (
    "This was a quick run: a first look, mostly too small to decide what needs "
    "training. The full one is <code>dragoman lab {name}</code>."
)


def write_report(output: Path) -> Path:
    """Gather whatever results there are into one page, and give its path."""
    found = [
        (result, output / experiment.name)
        for experiment in EXPERIMENTS
        if (result := read_result(output / experiment.name)) is not None
    ]
    if not found:
        raise LabError(
            f"{output} holds no results yet: measure some with `dragoman lab all "
            "--quick`, or name their folder with --output"
        )
    path = output / REPORT
    durable.replace_text(path, _page(found))
    return path


def _page(found: Sequence[tuple[Result, Path]]) -> str:
    style = (files("dragoman.lab") / "page" / "report.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    contents = "".join(_line(result) for result, _ in found)
    articles = "\n".join(_article(result, folder) for result, folder in found)
    waiting = [e.name for e in EXPERIMENTS if e.name not in [r.name for r, _ in found]]
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; \
style-src 'sha256-{digest}'">
<meta name="color-scheme" content="light dark">
<title>The lab · Dragoman</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#results">Skip to the results</a>
<header>
<h1>“Attention Is All You Need”, measured</h1>
<p>The paper argues that attention can replace recurrence, and says why its parts are as
they are. Each claim below is a question that was put to this machine. A prediction may
fail: then it says so.</p>
{_waiting(waiting)}
<nav aria-label="Experiments"><table><thead><tr><th scope="col">experiment</th>
<th scope="col">question</th><th scope="col">the prediction</th></tr></thead>
<tbody>{contents}</tbody></table></nav>
</header>
<main id="results">
<p class="soft">Where several seeds were run, numbers are their mean, with the lowest
and the highest in brackets; two things count as different only if their ranges lie
apart.</p>
{articles}
</main>
<footer class="soft"><p>Written by <code>dragoman lab report</code>.</p></footer>
</body>
</html>
"""


def _waiting(names: Sequence[str]) -> str:
    if not names:
        return ""
    return f'<p class="soft">Not measured yet: {", ".join(names)}.</p>'


def _line(result: Result) -> str:
    return (
        f'<tr><td><a href="#{result.name}">{_text(result.title)}</a></td>'
        f"<td>{_text(result.question)}</td>"
        f'<td class="outcome {_CLASSES[result.outcome]}">{result.outcome}</td></tr>\n'
    )


def _article(result: Result, folder: Path) -> str:
    quick = f'<p class="soft">{_QUICK.format(name=result.name)}</p>'
    note = f'<p class="soft">{_text(result.note)}</p>'
    return f"""<article id="{result.name}" aria-labelledby="{result.name}-title">
<h2 id="{result.name}-title">{_text(result.title)}</h2>
<p class="question">{_text(result.question)}</p>
<h3>Prediction</h3>
<p>{_text(result.prediction)}</p>
<h3>What we saw</h3>
<p class="outcome {_CLASSES[result.outcome]}">The prediction {result.outcome}.</p>
<ul class="claims">{"".join(_claim(claim) for claim in result.claims)}</ul>
{quick if result.quick else ""}
<figure tabindex="0">
<img class="plot" alt="{_text(result.caption)}" src="{_plot(folder)}">
<figcaption>{_text(result.caption)}</figcaption></figure>
{note if result.note else ""}
<h3>Why</h3>
<p>{_text(result.why)}</p>
<details><summary>The numbers</summary>
<div class="numbers" tabindex="0" role="region" aria-label="Numbers of {result.name}">
{_table(result.table)}</div></details>
<p class="soft">{_circumstances(result)}</p>
</article>"""


def _claim(claim: Claim) -> str:
    match claim.held:
        case True:
            kind, words = "held", "Held"
        case False:
            kind, words = "against", "Did not hold"
        case None:
            kind, words = "open", "Undecided"
    return (
        f'<li class="{kind}"><strong>{words}:</strong> {_text(claim.expected)}. '
        f'<span class="saw">{_text(claim.saw)}</span></li>'
    )


def _table(table: Table) -> str:
    numbers = [
        all(not isinstance(row[place], str) for row in table.rows)
        for place in range(len(table.columns))
    ]

    def row(cells: Sequence[str], tag: str, scope: str = "") -> str:
        return "".join(
            f"<{tag}{scope}{' class=number' * number}>{_text(cell)}</{tag}>"
            for cell, number in zip(cells, numbers, strict=True)
        )

    head = row(table.columns, "th", ' scope="col"')
    body = "".join(
        f"<tr>{row([cell_text(cell) for cell in cells], 'td')}</tr>\n"
        for cells in table.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _circumstances(result: Result) -> str:
    machine = result.machine
    seeds = "1 seed" if result.seeds == 1 else f"{result.seeds} seeds"
    return _text(
        f"{seeds}, {result.seconds:,.0f} s on {result.measured[:10]}, "
        f"{machine['system']}, {machine['cores']} cores, {machine['threads']} threads, "
        f"PyTorch {machine['torch']}, Dragoman {machine['dragoman']}"
    )


def _plot(folder: Path) -> str:
    try:
        content = (folder / PLOTS[0]).read_bytes()
    except FileNotFoundError as error:
        raise LabError(
            f"{folder / PLOTS[0]} is missing: measure it again with "
            f"`dragoman lab {folder.name} --again`"
        ) from error
    return "data:image/svg+xml;base64," + base64.b64encode(content).decode("ascii")


def _text(text: str) -> str:
    return html.escape(text, quote=True)
