"""CTranslate2 behind a plain FastAPI: what people write when they serve a model.

One process; each request is translated by itself in a worker thread, with as many
CTranslate2 workers as there are cores. Run by `serving.py` in an environment that has
fastapi, uvicorn, ctranslate2 and sentencepiece.
"""

import os
import sys
from pathlib import Path

import ctranslate2
import sentencepiece
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel


class Asked(BaseModel):
    """What a client asks for, in LibreTranslate's words."""

    q: str


def build(folder: Path, beam_size: int) -> FastAPI:
    pieces = sentencepiece.SentencePieceProcessor(str(folder / "tokenizer.model"))
    export = folder / "ctranslate2-int8"
    translator = ctranslate2.Translator(
        str(export), inter_threads=os.cpu_count() or 1, intra_threads=1
    )
    app = FastAPI()

    @app.post("/translate")  # type: ignore[untyped-decorator]
    def translate(asked: Asked) -> dict[str, str]:
        source = [pieces.encode(asked.q, out_type=str)]
        [found] = translator.translate_batch(source, beam_size=beam_size)
        return {"translatedText": pieces.decode(found.hypotheses[0])}

    @app.get("/ready")  # type: ignore[untyped-decorator]
    def ready() -> dict[str, str]:
        return {"status": "ready"}

    return app


if __name__ == "__main__":
    model, beam, port = sys.argv[1:]
    app = build(Path(model), int(beam))
    uvicorn.run(app, port=int(port), log_level="warning")
