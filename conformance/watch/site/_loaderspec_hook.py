# The hook: decides what a Python process of a watched job does before its own first line. It says hello, and makes the
# imports of a few modules call loaderspec. Old syntax, and `os` and `sys` only: see sitecustomize.py.
import os
import sys

# A module that is imported, and the module of ours whose `tap` is then called with it.
TARGETS = {
    "torch.utils.data.dataloader": "conformance.watch.taps",
    "torch.serialization": "conformance.watch.taps_checkpoint",
    "torch.optim.optimizer": "conformance.watch.taps_checkpoint",
    "torchdata.stateful_dataloader.stateful_dataloader": "conformance.watch.taps_stateful",
    "accelerate.data_loader": "conformance.watch.taps_accelerate",
    "torch.distributed": "conformance.watch.taps_gather",
    "accelerate.accelerator": "conformance.watch.taps_gather",
    "torch.distributed.algorithms.join": "conformance.watch.taps_join",
    "torch.distributed.device_mesh": "conformance.watch.taps_mesh",
}
# What a hello tells of the environment.
TOLD = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOADERSPEC_WATCH_STARTED_BY")


def install():
    if any(type(each).__name__ == "LoaderspecFinder" for each in sys.meta_path):
        return
    say("hello", argv())
    sys.meta_path.insert(0, LoaderspecFinder())
    for name in TARGETS:
        if name in sys.modules:
            patch(sys.modules[name])


def argv():
    # sys.argv is not there yet.
    return [str(word) for word in getattr(sys, "orig_argv", [])]


def say(what, more):
    # Lines of one host are appended to one file; a line is what `repr` makes of it, for `ast.literal_eval`.
    told = dict((name, os.environ[name]) for name in TOLD if name in os.environ)
    line = repr((what, os.getpid(), os.getppid(), told, more)) + "\n"
    name = "processes-" + os.uname()[1].replace("/", "-") + ".txt"
    file = os.open(os.path.join(os.environ["LOADERSPEC_WATCH"], name), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, line.encode("utf-8", "backslashreplace"))
    finally:
        os.close(file)


def patch(module):
    # Whatever goes wrong here is told in the report and does not reach the job.
    try:
        name = TARGETS[module.__name__]
        __import__(name)
        sys.modules[name].tap(module)
    except BaseException as error:
        failed(module.__name__, error)


def failed(where, error):
    try:
        say("failed", [where, type(error).__name__ + ": " + str(error), sys.version.split()[0]])
    except Exception:
        pass


class LoaderspecFinder:
    # Lets the others find a module, and taps it once it has run.
    def find_spec(self, name, path=None, target=None):
        if name == "conformance":
            return self.ours(name, path, target)
        if name not in TARGETS:
            return None
        spec = self.others(name, path, target)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            patch(module)

        spec.loader.exec_module = exec_module
        return spec

    def others(self, name, path, target):
        for finder in list(sys.meta_path):
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    return spec
        return None

    def ours(self, name, path, target):
        # The interpreter of the job may be one in which this package is not installed, or another version of it; but a
        # package of the user's that has its name stays the user's.
        spec = self.others(name, path, target)
        home = os.environ.get("LOADERSPEC_WATCH_HOME")
        theirs = list(getattr(spec, "submodule_search_locations", None) or [])
        if not home or (
            spec is not None and not any(os.path.isdir(os.path.join(each, "watch", "site")) for each in theirs)
        ):
            return spec
        from importlib.machinery import PathFinder

        return PathFinder.find_spec(name, [home]) or spec
