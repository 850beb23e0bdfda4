"""What a recorded statement sets for the whole process is as before when the next one runs."""

from __future__ import annotations

import pytest
import torch

from tests.gpu import statements
from tests.gpu.defaults import SETTINGS

CHANGES = {
    "default device": "torch.set_default_device('meta')",
    "default dtype": "torch.set_default_dtype(torch.float64)",
    "gradients": "torch.set_grad_enabled(False)",
    "anomalies": "torch.set_anomaly_enabled(True)",
    "determinism": "torch.use_deterministic_algorithms(True, warn_only=True)",
    "precision of products": "torch.set_float32_matmul_precision('medium')",
    "warnings of torch": "torch.set_warn_always(True)",
    "threads": "torch.set_num_threads(torch.get_num_threads() + 1)",
    "validation of distributions": "D.Distribution.set_default_validate_args(False)",
    "tf32 of cublas": "torch.backends.cuda.matmul.allow_tf32 = not torch.backends.cuda.matmul.allow_tf32",
    "tf32 of cudnn": "torch.backends.cudnn.allow_tf32 = not torch.backends.cudnn.allow_tf32",
    "cudnn": "torch.backends.cudnn.enabled = False",
    "search of cudnn": "torch.backends.cudnn.benchmark = True",
    "determinism of cudnn": "torch.backends.cudnn.deterministic = True",
    "flash attention": "torch.backends.cuda.enable_flash_sdp(False)",
    "plain attention": "torch.backends.cuda.enable_math_sdp(False)",
    "small attention": "torch.backends.cuda.enable_mem_efficient_sdp(False)",
    "hooks before every module": "nn.modules.module.register_module_forward_pre_hook(print)",
    "hooks behind every module": "nn.modules.module.register_module_forward_hook(print)",
    "errors of numpy": "import numpy; numpy.seterr(divide='raise')",
    "decimal numbers": "import decimal; decimal.getcontext().prec = 3",
    "filters of warnings": "import warnings; warnings.simplefilter('error')",
    "level of the root logger": "import logging; logging.root.setLevel(1)",
    "environment": "import os; os.environ['GRAPHLINT_STATEMENT'] = '1'",
    "collector": "import gc; gc.disable()",
    "depth of calls": "import sys; sys.setrecursionlimit(sys.getrecursionlimit() + 1)",
}


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> None:
    """Statements are called and not captured, so that no GPU is needed."""

    def outcome(run: object) -> str:
        assert callable(run)
        try:
            run()
        except Exception as error:
            return type(error).__name__
        return "fine"

    monkeypatch.setattr(statements, "outcome", outcome)


@pytest.mark.usefixtures("called")
@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_put_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read, put_back = SETTINGS[name]
    before = repr(read())
    monkeypatch.setattr("tests.gpu.defaults.SETTINGS", {})
    kept = read()
    assert statements.tried("", CHANGES[name]) == "fine"
    try:
        assert repr(read()) != before, "the change of this test changes nothing"
    finally:
        put_back(kept)
    monkeypatch.setattr("tests.gpu.defaults.SETTINGS", SETTINGS)
    assert statements.tried("", CHANGES[name]) == "fine"
    assert repr(read()) == before


@pytest.mark.usefixtures("called")
def test_a_statement_says_the_same_behind_one_that_sets_a_default() -> None:
    refused = "d = D.Bernoulli(torch.full((1,), 2.0))"
    assert statements.tried("", refused) == "ValueError"
    assert statements.tried("", f"D.Distribution.set_default_validate_args(False); {refused}") == "fine"
    assert statements.tried("", refused) == "ValueError"


@pytest.mark.usefixtures("called")
def test_a_default_is_put_back_where_the_statement_fails() -> None:
    assert statements.tried("", "torch.set_default_device('meta'); torch.empty(2)[3]") == "IndexError"
    assert torch.empty(1).device.type == "cpu"
