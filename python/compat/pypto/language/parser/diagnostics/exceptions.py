# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a program, and where in the user's file."""

from peal._unsupported import missing as _missing


class ParserError(Exception):
    """`str()` has the place, the sentence, the line with a caret, and a hint where one helps."""

    def __init__(self, message, span=None, hint=None, note=None, source_lines=None):
        super().__init__(message)
        self.message, self.span, self.hint, self.note = message, span, hint, note
        self.source_lines = span.lines() if source_lines is None and span is not None else source_lines

    def __str__(self):
        text = self.message if self.span is None else self.span.shown(self.message)
        if self.note:
            text += f"\nnote: {self.note}"
        return text + (f"\nhint: {self.hint}" if self.hint else "")


class ParserSyntaxError(ParserError):
    pass


class ParserTypeError(ParserError):
    pass


class UndefinedVariableError(ParserError):
    pass


class SSAViolationError(ParserError):
    pass


class UnsupportedFeatureError(ParserError):
    pass


class InvalidOperationError(ParserError):
    pass


class ScopeIsolationError(ParserError):
    pass


__getattr__ = _missing(__name__)
