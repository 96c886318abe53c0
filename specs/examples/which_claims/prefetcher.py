"""Prefetcher: a wrapper around any loader that reads its next steps in a thread; here around the DDP sampler's."""

import queue
import threading

import ddp_sampler

claims = dict(
    asynchronous=True,
    hooks=("buffer_size",),
    when_dropping="drop",
    when_keeping="pad",
    layout="strided",
    shuffle="global",
    length=True,
)
known_failures = {clause: ddp_sampler.known_failures[clause] for clause in ("ORDER-7", "WORK-17", "ERROR-3")}
END = object()


class Prefetcher:
    def __init__(self, loader, ahead):
        self.loader, self.ahead = loader, ahead

    def __iter__(self):
        return self.steps(iter(self.loader))

    def steps(self, inner):
        ready, room, left = queue.Queue(), threading.Semaphore(self.ahead), threading.Event()

        def fill():
            try:
                while room.acquire() and not left.is_set():
                    ready.put((next(inner, END), None))
            except BaseException as error:
                ready.put((END, error))

        thread = threading.Thread(target=fill, daemon=True)
        thread.start()
        try:
            while True:
                step, error = ready.get()
                if error is not None:
                    raise error
                if step is END:
                    return
                room.release()  # the consumer takes one, so that there is room for another
                yield step
        finally:  # also where the loop is left early
            left.set()
            room.release()
            thread.join()

    def __len__(self):
        return len(self.loader)

    def set_epoch(self, epoch):
        self.loader.set_epoch(epoch)


def load(request):
    loader = ddp_sampler.load(request)
    return Prefetcher(loader, request.buffer_size or 2) if request.asynchronous else loader
