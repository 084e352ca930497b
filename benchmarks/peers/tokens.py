"""CTranslate2 called directly on tokens of forced length, at its best setting."""

import json
from pathlib import Path

import ctranslate2
from peers.protocol import Translations, answer, read_job


def main() -> None:
    job = read_job()
    pieces = json.loads(Path(job.folder, "shared_vocabulary.json").read_text("utf-8"))
    sentences = max(len(batch) for batch in job.batches)
    alone = sentences == 1 and len(job.batches) == 1
    translator = ctranslate2.Translator(
        job.folder,
        inter_threads=1 if alone else job.threads,
        intra_threads=1,
    )
    sources = [[[pieces[t] for t in s] for s in batch] for batch in job.batches]

    def translate() -> Translations:
        running = [
            translator.translate_batch(
                batch,
                beam_size=job.beam_size,
                length_penalty=job.length_penalty,
                min_decoding_length=job.length or 1,
                max_decoding_length=job.limit(tokens),
                asynchronous=True,
            )
            for batch, tokens in zip(sources, job.batches, strict=True)
        ]
        return [result.result().hypotheses[0] for batch in running for result in batch]

    answer(translate)


if __name__ == "__main__":
    main()
