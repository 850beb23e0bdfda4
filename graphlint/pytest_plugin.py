"""The pytest marker `capturable`: a test that returns a case, which must capture and replay equal to eager.

    @pytest.mark.capturable
    def test_decode():
        model = Decoder().cuda()
        return model, (torch.randn(1, 64, device="cuda"),)

The test is called once for every build, so it makes its case anew each time.  Without a GPU it runs on the emulator,
or is skipped with `@pytest.mark.capturable(device="cuda")`; keywords are those of `graphlint.testing.assert_capturable`.
"""

from __future__ import annotations

import inspect
from typing import Any

import pytest

MARKER = "capturable(device='auto', warmup=3, replays=3): the case this test returns captures and replays equal to eager"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> object:
    """Confirm instead of calling, where the marker is set; None leaves a test to pytest."""
    marker = pyfuncitem.get_closest_marker("capturable")
    if marker is None:
        return None
    from graphlint import testing  # only where the marker is used: it leads to torch
    from graphlint.confirm.assertion import NotCapturable
    from graphlint.confirm.child import NoDevice
    from graphlint.errors import GraphlintError

    names = inspect.signature(pyfuncitem.obj).parameters
    given: dict[str, Any] = {name: pyfuncitem.funcargs[name] for name in names}
    try:
        testing.assert_case_capturable(lambda: pyfuncitem.obj(**given), target=pyfuncitem.nodeid, **marker.kwargs)
    except NoDevice as error:
        pytest.skip(error.message)
    except (GraphlintError, NotCapturable) as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    return True
