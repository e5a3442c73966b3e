"""Whatever clients send: no status of 500 and above, and neither a trace nor a path in a reply."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.core.result import Ok

from tests.support.lab import Lab
from tests.support.scripted_agent import ScriptedAgent
from tests.support.served import BEARER, Served, serving_in_thread

IS_LONG = settings.get_current_profile_name() == "fuzz"
EXAMPLES = 350 if IS_LONG else 2
"""For each of 16 operations: `make fuzz` sends more than 5,000 requests."""
TRACES = ("Traceback", 'File "', 'File \\"', "site-packages", ".py")


def operations(served: Served) -> list[Any]:
    """The operations of the server's own description, but for streams, which go on."""
    schema = schemathesis.openapi.from_url(f"{served.url}/api/openapi.json", headers=BEARER)
    found = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
    return [each for each in found if not each.path.endswith("/events")]


def cases(operation: Any) -> st.SearchStrategy[Any]:
    """Requests that are as described and, in `make fuzz`, some that are not: what makes these is slow to set up."""
    wanted = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    if not IS_LONG or (not operation.body and not list(operation.iter_parameters())):
        return wanted  # type: ignore[no-any-return] # schemathesis has no types for it
    return st.one_of(wanted, operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))


@pytest.mark.slow  # building the strategies alone takes seconds
@pytest.mark.hypothesis
def test_no_input_is_answered_with_a_fault_of_the_server(lab: Lab, tmp_path: Path) -> None:
    statuses: Counter[int] = Counter()
    with lab.open() as asky, serving_in_thread(asky, ScriptedAgent(asky), answer_s=0.1) as served:
        known = served.known_run()

        def check(case: Any, is_known: bool) -> None:
            if is_known and "session_id" in (case.path_parameters or {}):
                case.path_parameters["session_id"] = known
            reply = case.call(base_url=served.url, headers=BEARER, timeout=60)
            statuses[reply.status_code] += 1
            assert reply.status_code < 500, (case.as_curl_command(), reply.text)
            assert not [each for each in (*TRACES, str(tmp_path)) if each in reply.text], reply.text

        for operation in operations(served):
            limits = settings(
                max_examples=EXAMPLES,
                phases=[Phase.generate],
                database=None,
                suppress_health_check=list(HealthCheck),
                verbosity=Verbosity.quiet,
            )
            limits(given(case=cases(operation), is_known=st.booleans())(check))()
    print(f"{statuses.total()} replies by status: {dict(sorted(statuses.items()))}")
    assert statuses[200]
