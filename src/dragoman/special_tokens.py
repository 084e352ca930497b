"""The four token ids that every vocabulary begins with."""

PAD = 0
UNKNOWN = 1
BEGIN = 2
END = 3

NAMES = ("<pad>", "<unk>", "<s>", "</s>")
