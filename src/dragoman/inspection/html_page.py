"""An inspection as one HTML file that needs nothing else, not even a network.

What a sentence says can never run: it travels as JSON without a single "<", is shown as
text, and the page's own policy allows no script but the one whose hash it names.
"""

import base64
import hashlib
import html
import json
from importlib.resources import files

from dragoman.inspection.head_profile import HeadProfile
from dragoman.inspection.observation import Observation
from dragoman.inspection.page_data import page_data

SCRIPTS = ("state.js", "translation.js", "attention.js", "beam.js", "layers.js")


def html_page(
    seen: Observation, name: str = "", profile: HeadProfile | None = None
) -> str:
    """Give the whole page; `name` says of which model it is."""
    style = _asset("page.css")
    script = "\n".join(_asset(part) for part in SCRIPTS)
    filled = {
        "title": html.escape(f"{seen.title} · Dragoman"),
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
        "data": _json(page_data(seen, name, profile)),
    }
    # In one pass: what fills one place is never searched for another.
    parts = _asset("page.html").split("{{")
    page = [parts[0]]
    for part in parts[1:]:
        place, _, rest = part.partition("}}")
        page += [filled[place], rest]
    return "".join(page)


def notebook_frame(seen: Observation) -> str:
    """Give the page in a frame of its own, for a notebook to show."""
    page = html.escape(html_page(seen), quote=True)
    return (
        f'<iframe srcdoc="{page}" sandbox="allow-scripts" width="100%" height="900" '
        'style="border: 1px solid #ddd; border-radius: 8px" '
        'title="Inspection"></iframe>'
    )


def _asset(name: str) -> str:
    return (files("dragoman.inspection") / "page" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _json(data: object) -> str:
    """Write JSON that cannot end a script or begin a comment."""
    return json.dumps(data, ensure_ascii=True).replace("<", "\\u003c")
