"""Puts inline tags back over the words of a translation that stand for their words.

Each pair of tags is put exactly once, around the largest run of words that are linked
to words it enclosed; each single tag goes where its neighbours went. The tree of tags
keeps its shape, so what was well-formed stays so.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dragoman.documents.segment import Segment, Tag
from dragoman.text.word_links import MARKER, Links, Unit, word_units

WIDEST_GAP = 2  # words of nobody that a pair may enclose between its own

Escape = Callable[[str], str]


@dataclass(frozen=True)
class Translated:
    """A translated text, and which source unit each of its units stands for."""

    text: str
    links: Links


@dataclass(frozen=True)
class Tagged:
    """A translation with its tags, written as its document writes text."""

    written: str
    repairs: tuple[str, ...]  # what found no words, or no place, of its own


@dataclass(frozen=True, slots=True)
class _Atom:
    """A unit of the target, or a part of one, and the source atom it stands for."""

    start: int
    end: int
    link: int | None


@dataclass
class _Placed:
    """A tag and where it goes in the target."""

    tag: Tag
    number: int  # in the order of the source
    start: int
    end: int
    first: int  # the atoms within
    last: int


class _Placing:
    """The work of putting the tags of one segment back."""

    def __init__(self, segment: Segment, translated: Translated) -> None:
        self.segment = segment
        self.text = translated.text
        self.repairs: list[str] = []
        units = word_units(segment.text)
        self.source, wholes = _cut_units(units, segment.tags)
        self.starts = [unit.start for unit in self.source]
        self.ends = [unit.end for unit in self.source]
        self.atoms = _target_atoms(self.source, wholes, units, translated)
        self.of_source: dict[int, list[int]] = {}
        for number, atom in enumerate(self.atoms):
            if atom.link is not None:
                self.of_source.setdefault(atom.link, []).append(number)

    def place(
        self,
        tags: Sequence[Tag],
        within: tuple[int, int],
        chars: tuple[int, int],
        origin: int,
    ) -> list[_Placed]:
        """Find a place for each tag among these atoms and characters.

        `origin` is where what encloses the tags begins in the source.
        """
        words = self._words(tags, within)
        owners = {place: number for number, own in words.items() for place in own}
        runs = {number: _largest_run(own, owners) for number, own in words.items()}
        placed = []
        for number, tag in enumerate(tags):
            if number in runs:
                first, last = runs[number]
                placed.append(self._around(tag, number, first, last, chars))
        placed.sort(key=lambda one: one.start)
        for before, after in pairwise(placed):
            after.start = max(after.start, before.end)  # one blank, wanted by both
        paired = list(placed)
        for number, tag in enumerate(tags):
            if number not in runs:
                placed.append(self._between(tag, number, within, chars, paired, origin))
        placed.sort(key=lambda one: (one.start, one.number))
        return placed

    def _words(
        self, tags: Sequence[Tag], within: tuple[int, int]
    ) -> dict[int, list[int]]:
        """Give the atoms linked to what each tag encloses, by the tag's number."""
        owner: dict[int, int] = {}
        for number, tag in enumerate(tags):
            first, end = (bisect_left(self.starts, at) for at in (tag.start, tag.end))
            owner.update(dict.fromkeys(range(first, end), number))
        words: dict[int, list[int]] = {}
        for place in range(*within):
            link = self.atoms[place].link
            if link is not None and link in owner:
                words.setdefault(owner[link], []).append(place)
        return words

    def _around(
        self, tag: Tag, number: int, first: int, last: int, chars: tuple[int, int]
    ) -> _Placed:
        """Put a pair around atoms, with as many blanks at its edges as it had."""
        start, end = self.atoms[first].start, self.atoms[last].end
        inside = self.segment.text[tag.start : tag.end]
        lead = len(inside) - len(inside.lstrip())
        trail = len(inside) - len(inside.rstrip())
        while lead and start > chars[0] and self.text[start - 1].isspace():
            start, lead = start - 1, lead - 1
        while trail and end < chars[1] and self.text[end].isspace():
            end, trail = end + 1, trail - 1
        return _Placed(tag, number, start, end, first, last + 1)

    def _between(
        self,
        tag: Tag,
        number: int,
        within: tuple[int, int],
        chars: tuple[int, int],
        paired: Sequence[_Placed],
        origin: int,
    ) -> _Placed:
        """Put what encloses no word where its neighbours went."""
        if tag.closing is not None and self.segment.text[tag.start : tag.end].strip():
            self.repairs.append(f"no words were found for {tag.opening}")
        at = chars[0] + tag.start - origin  # where nothing around it is a word
        if within[0] < within[1]:
            at = self._beside(tag, within, chars)
        at = min(max(at, chars[0]), chars[1])
        for other in paired:
            if other.start < at < other.end:
                at = other.end
        end, blanks = at, self.segment.text[tag.start : tag.end]
        wanted = len(blanks) if not blanks.strip() else 0
        limit = min((p.start for p in paired if p.start >= at), default=chars[1])
        while wanted and end < limit and self.text[end].isspace():
            end, wanted = end + 1, wanted - 1
        return _Placed(tag, number, at, end, within[0], within[0])

    def _beside(self, tag: Tag, within: tuple[int, int], chars: tuple[int, int]) -> int:
        """Give the place after what was before the tag, or before what was after."""
        before = bisect_right(self.ends, tag.start) - 1
        after = bisect_left(self.starts, tag.end)
        previous = self._linked(before, within)
        following = self._linked(after, within)
        text = self.segment.text
        if previous:
            gap = tag.start - self.ends[before]
            stands_alone = text[tag.end : tag.end + 1].isspace()
            if not gap or stands_alone or not following:
                at = self.atoms[previous[-1]].end
                while gap and at < chars[1] and self.text[at].isspace():
                    at, gap = at + 1, gap - 1
                return at
        if following:
            at, gap = self.atoms[following[0]].start, self.starts[after] - tag.start
            while gap and at > chars[0] and self.text[at - 1].isspace():
                at, gap = at - 1, gap - 1
            return at
        return chars[0] if before < 0 else chars[1]

    def _linked(self, source: int, within: tuple[int, int]) -> list[int]:
        places = self.of_source.get(source, [])
        return [place for place in places if within[0] <= place < within[1]]

    def emit(
        self,
        tags: Sequence[Tag],
        within: tuple[int, int],
        chars: tuple[int, int],
        letters: Sequence[str],
        origin: int = 0,
    ) -> str:
        """Write the characters between two places, with the tags in them."""
        if not tags:
            return "".join(letters[chars[0] : chars[1]])
        parts: list[str] = []
        at = chars[0]
        for one in self.place(tags, within, chars, origin):
            start = max(at, one.start)
            parts += letters[at:start]
            at = max(start, one.end)
            inner = self.emit(
                one.tag.children,
                (one.first, one.last),
                (start, at),
                letters,
                one.tag.start,
            )
            parts += [one.tag.opening, inner, one.tag.closing or ""]
        return "".join([*parts, *letters[at : chars[1]]])

    def letters(self, escape: Escape) -> list[str]:
        """Say how each character of the target is written: as in the source, if same.

        A blank is as in the source where it stands between the same words.
        """
        letters = [escape(character) for character in self.text]
        text, written = self.segment.text, self.segment.written
        edges = [_Atom(0, 0, -1), *self.atoms]
        ends = [*self.atoms, _Atom(len(self.text), len(self.text), len(self.source))]
        for before, after in zip(edges, ends, strict=True):
            if before.link is None or after.link != before.link + 1:
                continue
            start = self.source[before.link].end if before.link >= 0 else 0
            end = len(text)
            if after.link < len(self.source):
                end = self.source[after.link].start
            if text[start:end] == self.text[before.end : after.start]:
                letters[before.end : after.start] = written[start:end]
        for atom in self.atoms:
            if atom.link is None:
                continue
            own = self.source[atom.link]
            if text[own.start : own.end] == self.text[atom.start : atom.end]:
                letters[atom.start : atom.end] = written[own.start : own.end]
        return letters


def put_back(segment: Segment, translated: Translated, escape: Escape) -> Tagged:
    """Give the translation with every tag of the segment in it, exactly once."""
    translated, repairs = _with_every_marker(segment, translated)
    work = _Placing(segment, translated)
    written = work.emit(
        segment.tags,
        (0, len(work.atoms)),
        (0, len(translated.text)),
        work.letters(escape),
    )
    return Tagged(written, (*repairs, *work.repairs))


def _with_every_marker(
    segment: Segment, translated: Translated
) -> tuple[Translated, list[str]]:
    """See that each marker is there once: drop one too many, add one that lacks."""
    if not segment.opaque and not MARKER.search(translated.text):
        return translated, []
    wanted = {f'<x id="{n}"/>': whole for n, whole in enumerate(segment.opaque, 1)}
    own = {
        u.text: i for i, u in enumerate(word_units(segment.text)) if u.text in wanted
    }
    units = word_units(translated.text)
    text, links, repairs, end = "", [], [], 0
    for unit, link in zip(units, translated.links, strict=True):
        text, end = text + translated.text[end : unit.start], unit.end
        if MARKER.fullmatch(unit.text):
            if unit.text not in own:
                repairs.append("an element came twice, and once was left out")
                continue
            link = own.pop(unit.text)
        text += unit.text
        links.append(link)
    text += translated.text[end:]
    for marker, place in own.items():
        repairs.append(f"put at the end: {wanted[marker][:40]}")
        text = f"{text} {marker}" if text else marker
        links.append(place)
    return Translated(text, tuple(links)), repairs


def _cut_units(
    units: Sequence[Unit], tags: Sequence[Tag]
) -> tuple[list[Unit], list[list[int]]]:
    """Cut units where tags begin and end; give the parts, and those of each unit."""
    cuts: list[int] = []
    waiting = list(tags)
    while waiting:
        tag = waiting.pop()
        cuts += (tag.start, tag.end)
        waiting += tag.children
    cuts = sorted(set(cuts))
    parts: list[Unit] = []
    wholes: list[list[int]] = []
    place = 0
    for unit in units:
        while place < len(cuts) and cuts[place] <= unit.start:
            place += 1
        inner = []
        while place < len(cuts) and cuts[place] < unit.end:
            inner.append(cuts[place])
            place += 1
        bounds = [unit.start, *inner, unit.end]
        wholes.append(list(range(len(parts), len(parts) + len(bounds) - 1)))
        for start, end in pairwise(bounds):
            text = unit.text[start - unit.start : end - unit.start]
            parts.append(Unit(start, end, text))
    return parts, wholes


def _target_atoms(
    source: Sequence[Unit],
    wholes: Sequence[Sequence[int]],
    units: Sequence[Unit],
    translated: Translated,
) -> list[_Atom]:
    """Cut a target unit as its source is cut if it is the same, else leave it whole."""
    atoms = []
    own = word_units(translated.text)
    for unit, link in zip(own, translated.links, strict=True):
        if link is None:
            atoms.append(_Atom(unit.start, unit.end, None))
        elif units[link].text == unit.text:
            at = unit.start
            for part in wholes[link]:
                size = source[part].end - source[part].start
                atoms.append(_Atom(at, at + size, part))
                at += size
        else:
            largest = max(wholes[link], key=lambda part: len(source[part].text))
            atoms.append(_Atom(unit.start, unit.end, largest))
    return atoms


def _largest_run(own: Sequence[int], owners: dict[int, int]) -> tuple[int, int]:
    """Give the first and last of the largest run of atoms without others' between."""
    run = [own[0]]
    best = run
    for place in own[1:]:
        between = range(run[-1] + 1, place)
        if len(between) > WIDEST_GAP or any(other in owners for other in between):
            run = []
        run.append(place)
        best = max(best, run, key=len)
    return best[0], best[-1]
