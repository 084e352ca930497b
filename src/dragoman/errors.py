"""Everything that can go wrong for a person, as one tree.

DragomanError
├── ConfigError         a setting that does not exist or cannot be
├── CorpusError         parallel text that cannot be read or paired
├── TokenizerError      a tokenizer that cannot be learned or loaded
├── ModelFolderError    a saved model that is missing, damaged or altered
├── TrainingError       a run that cannot start, go on or be saved
├── GlossaryError       a glossary that cannot be read
├── DocumentError       a document that cannot be read or written
├── ServingError        a server that cannot start, or a request it cannot answer
├── EvaluationError     translations and references that cannot be compared
├── InspectionError     a place in a model that is not there to be looked at
├── StudioError         a page that cannot be opened, or a question without an answer
├── LabError            an experiment that does not exist or cannot be done
├── ExportError         a model that cannot be turned into another format
├── ImportedModelError  another program's model that cannot be read or believed
├── FetchError          a public corpus that could not be fetched
├── KernelError         kernels that cannot be compiled or loaded on this machine
└── MissingExtraError   a feature whose optional package is not installed

Each message says what came, what is allowed and what to do, in one or two lines.
"""


class DragomanError(Exception):
    """Any error that the person at the keyboard can do something about."""


class ConfigError(DragomanError):
    """A setting that does not exist or cannot be."""


class CorpusError(DragomanError):
    """Parallel text that cannot be read or paired."""


class TokenizerError(DragomanError):
    """A tokenizer that cannot be learned or loaded."""


class ModelFolderError(DragomanError):
    """A saved model that is missing, damaged or altered."""


class TrainingError(DragomanError):
    """A training run that cannot start, go on or be saved."""


class GlossaryError(DragomanError):
    """A glossary that cannot be read."""


class DocumentError(DragomanError):
    """A document that cannot be read or written."""


class ServingError(DragomanError):
    """A server that cannot start, or a request that it cannot answer."""


class EvaluationError(DragomanError):
    """Translations and references that cannot be compared."""


class InspectionError(DragomanError):
    """A place in a model that is not there to be looked at."""


class StudioError(DragomanError):
    """A page that cannot be opened, or a question that has no answer."""


class LabError(DragomanError):
    """An experiment that does not exist or cannot be done."""


class ExportError(DragomanError):
    """A model that cannot be turned into another program's format."""


class ImportedModelError(DragomanError):
    """Another program's model cannot be read, or is not what it says it is."""


class FetchError(DragomanError):
    """A public corpus that could not be fetched."""


class KernelError(DragomanError):
    """Kernels that cannot be compiled or loaded on this machine."""


class MissingExtraError(DragomanError):
    """A feature whose optional package is not installed."""

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the package {package!r}, which is not installed: "
            f"pip install 'dragoman[{extra}]'"
        )
