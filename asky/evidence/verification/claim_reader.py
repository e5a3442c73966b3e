"""What reads a claim with its evidence, as verification sees it, whichever model stands behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.text.languages import languages_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class ClaimReader:
    """A model that reads claims with evidence; of texts that may be in its `language`, or in any for `None`.

    `read` returns the logits of entailed, contradicted and neither for each claim and evidence, `float32[n, 3]`, and
    raises `NotConfigured` if the model can't be opened.
    """

    read: Callable[[Sequence[tuple[str, str]]], npt.NDArray[np.float32]]
    language: str | None = "en"

    def may_read(self, text: str) -> bool:
        """Return whether `text` may be in the language of the model."""
        return self.language is None or self.language in languages_of(text)
