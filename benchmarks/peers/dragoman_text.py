"""Dragoman with the CTranslate2 engine, text in and text out, as anybody calls it."""

from dataclasses import replace

from peers.protocol import Translations, answer, read_job

import dragoman


def main() -> None:
    job = read_job()
    translator = dragoman.load(job.folder, engine="ctranslate2", threads=job.threads)

    options = replace(
        translator.options,
        beam_size=job.beam_size,
        max_repeats=0,  # a model of random weights does nothing but loop
    )

    def translate() -> Translations:
        found: Translations = translator.translate(job.texts, options=options)
        return found

    answer(translate)


if __name__ == "__main__":
    main()
