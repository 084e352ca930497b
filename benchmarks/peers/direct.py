"""CTranslate2 called directly, text in and text out, as its documentation shows.

`best` is its best setting for many sentences: one worker per core, sorted by length;
`plain` is its default of one worker for all cores, in the order the sentences came.
"""

import sys

import ctranslate2
import sentencepiece
from peers.protocol import Translations, answer, read_job


def main() -> None:
    job = read_job()
    best = sys.argv[2] == "best"
    translator = ctranslate2.Translator(
        job.folder,
        inter_threads=job.threads if best else 1,
        intra_threads=1 if best else job.threads,
    )
    processor = sentencepiece.SentencePieceProcessor(
        model_file=f"{job.folder}/tokenizer.model"
    )
    batch = max(len(batch) for batch in job.batches)

    def translate() -> Translations:
        sources = processor.encode(job.texts, out_type=str)
        chunks = (
            [sources]
            if best
            else [sources[i : i + batch] for i in range(0, len(sources), batch)]
        )
        results = [
            result
            for chunk in chunks
            for result in translator.translate_batch(
                chunk,
                beam_size=job.beam_size,
                length_penalty=job.length_penalty,
                max_batch_size=batch,
            )
        ]
        found: Translations = processor.decode([r.hypotheses[0] for r in results])
        return found

    answer(translate)


if __name__ == "__main__":
    main()
