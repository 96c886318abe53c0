"""Launchers with one fault each: their exit codes (chapter 7)."""

import signal

from tests.known_bad.launching import Launcher


class SucceedsAnyway(Launcher):
    """The exit code is 0, whatever became of the instances. (No public report.)"""

    clause, smallest = "LAUNCH-5", "n2,w2,b1,s7,launch,with=fails"

    def code_of(self, code: int) -> int:
        return 0


class AllFailuresAreOne(Launcher):
    """A failure is exit code 1, whatever the instance ended with. (No public report.)"""

    clause, smallest = "LAUNCH-5", "n2,w2,b1,s7,launch,with=fails"

    def code_of(self, code: int) -> int:
        return 1


class ASignalIsNoFailure(Launcher):
    """An instance that was killed counts as one that has succeeded. (No public report.)"""

    clause, smallest = "LAUNCH-5", "n2,w2,b1,launch,with=killed+mildly+done"

    def code_of(self, code: int) -> int:
        return max(code, 0)


class GivesTheLargestCode(Launcher):
    """The others exit with a code of their own when they are told to end, and the largest wins. (No public report.)"""

    clause, smallest = "LAUNCH-5", "n3,w3,b1,s75,launch,with=fails+second+own"

    def supervise(self) -> int:
        code = super().supervise()
        return self.of_all(self.told_to_end()) if code and not self.stopped else code

    def told_to_end(self) -> list[int]:
        """The codes of all instances, when they were told to end."""
        for job in self.jobs:
            if job.poll() is None:
                job.terminate()
        return [job.wait() for job in self.jobs]

    def of_all(self, codes: list[int]) -> int:
        """The launcher's exit code."""
        return max(codes) if max(codes) > 0 else self.code_of(min(codes))


class GivesTheFirstCodeInLine(GivesTheLargestCode):
    """When all have ended the first code of a failure counts, by index and not by time. (No public report.)"""

    clause, smallest = "LAUNCH-5", "n3,w3,b1,s75,launch,with=fails+second+own"

    def of_all(self, codes: list[int]) -> int:
        return next((code for code in codes if code > 0), self.code_of(min(codes)))


class TakesSigtermForItsOwn(GivesTheLargestCode):
    """Whoever dies of SIGTERM counts as told to end, though nobody has told it. (No public report.)"""

    clause, smallest = "LAUNCH-5", "n2,w2,b1,launch,with=killed+mildly+done"

    def supervise(self) -> int:
        self.first: int = Launcher.supervise(self)
        return (
            self.of_all(self.told_to_end()) if self.first == 128 + signal.SIGTERM and not self.stopped else self.first
        )

    def of_all(self, codes: list[int]) -> int:
        return next((self.code_of(code) for code in codes if code not in (0, -signal.SIGTERM)), 0)


class ExitsAsItsInstancesDo(GivesTheLargestCode):
    """Told to end, it tells its instances, and exits with 0 where they do, having saved. (No public report.)"""

    clause, smallest = "LAUNCH-7", "n2,w2,b1,launch,with=saved+term"

    def supervise(self) -> int:
        code = Launcher.supervise(self)
        return self.of_all(self.told_to_end()) if self.stopped else code

    def of_all(self, codes: list[int]) -> int:
        return next((self.code_of(code) for code in codes if code), 0)
