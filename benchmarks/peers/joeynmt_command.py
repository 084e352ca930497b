"""JoeyNMT's own command, with today's SentencePiece.

JoeyNMT asks the processor to use no piece outside its vocabulary. Newer processors have
lost that; here the vocabulary is all of the pieces, so nothing is asked.
"""

import sentencepiece
from joeynmt.__main__ import main

sentencepiece.SentencePieceProcessor.SetVocabulary = (  # type: ignore[attr-defined]
    lambda _self, _pieces: None
)

if __name__ == "__main__":
    main()
