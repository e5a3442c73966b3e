"""Characters that a citation, or what looks like one, may begin with."""

from __future__ import annotations

import re

OPEN = "[⁅⌈⌊❲⟦⟬⦋⦍⦏⦗⸢⸤⹕⹗【〔〖〘〚︗︹︻﹇﹝［"
CLOSE = "]⁆⌉⌋❳⟧⟭⦌⦎⦐⦘⸣⸥⹖⹘】〕〗〙〛︘︺︼﹈﹞］"
"""The brackets that Unicode names square, lenticular, of a tortoise shell, half, a floor or a ceiling, in one order."""

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
CIRCLED = "①-⑳⓫-⓾❶-➓㉑-㉟㊱-㊿"
"""As ranges for a pattern."""

ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
BEGUN_ENTITY = re.compile(r"&#?[0-9A-Za-z]{0,32}")
