# Runs first in every Python that a watched job starts, whatever that Python is: hence old syntax, `os` and `sys` only.
# It stands in front of PYTHONPATH, so it hides the sitecustomize of the user or of the system, which is run at the end.
import os
import sys

if os.environ.get("LOADERSPEC_WATCH"):
    try:
        import _loaderspec_hook

        _loaderspec_hook.install()
    except BaseException:  # a git hook or an old interpreter must not feel that it is watched
        pass

_here = os.path.dirname(os.path.abspath(__file__))
_kept = list(sys.path)
_ours = sys.modules.pop("sitecustomize", None)
sys.path[:] = [_each for _each in _kept if os.path.abspath(_each or ".") != _here]
try:
    import sitecustomize
except ImportError as error:
    if getattr(error, "name", "sitecustomize") != "sitecustomize":
        raise
    if _ours is not None:
        sys.modules["sitecustomize"] = _ours
finally:
    sys.path[:] = _kept
