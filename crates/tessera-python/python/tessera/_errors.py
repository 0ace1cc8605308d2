"""What can go wrong, by who can do something about it."""

__all__ = [
    "DictionaryError",
    "FormatError",
    "LimitsError",
    "ParameterError",
    "TargetError",
    "TesseraError",
]


class TesseraError(Exception):
    """Everything that this package raises by itself."""

    __module__ = "tessera"


class FormatError(TesseraError, OSError):
    """The file is damaged, cut short, or no picture; an ``OSError``, as Pillow's users expect."""

    __module__ = "tessera"


class ParameterError(TesseraError, ValueError):
    """The caller asked for something impossible."""

    __module__ = "tessera"


class TargetError(ParameterError):
    """This picture cannot be as small or as good as was asked for; the message tells how far it goes."""

    __module__ = "tessera"


class DictionaryError(TesseraError):
    """The dictionary of a file is missing, the wrong one, damaged or too new."""

    __module__ = "tessera"


class LimitsError(TesseraError):
    """Decoding would take more than the limits allow."""

    __module__ = "tessera"
