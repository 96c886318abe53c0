"""Samples out of a compressed archive that is fetched once: a download, a cache on disk, a tar file, pairs by name.

Run it: python -m reference.run specs/examples/pipelines/cached_archive.py
"""

import io
import json
import tarfile
import tempfile
from functools import partial
from pathlib import Path, PurePath

from torchdata.dataloader2 import DataLoader2, MultiProcessingReadingService
from torchdata.dataloader2.adapter import CacheTimeout
from torchdata.datapipes.iter import FSSpecFileOpener, IterableWrapper

SAMPLES = 6


def make(path):
    """An archive of texts and their labels, as a server may have it."""
    with tarfile.open(path, "w:gz") as archive:
        for number in range(SAMPLES):
            for suffix, data in ((".txt", "word " * (number + 1)), (".json", json.dumps({"label": number % 2}))):
                member = tarfile.TarInfo(f"{number:03}{suffix}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data.encode()))


def place(folder, path):
    """Where a fetched file belongs."""
    return str(Path(folder) / PurePath(path).name)


def key(sample):
    """The name of a file without what follows the dot."""
    return PurePath(sample[0]).stem


def is_text(sample):
    """Which of the two branches a file belongs to."""
    return int(not sample[0].endswith(".txt"))


def with_content(sample):
    """A file that was read."""
    path, stream = sample
    return path, stream.read().decode()


def pair(text, label):
    """A sample of both."""
    return len(text[1].split()), json.loads(label[1])["label"]


def pipeline(path, folder):
    """Pairs of a number of words and a label, in batches of like length."""
    fetched = IterableWrapper([path]).on_disk_cache(filepath_fn=partial(place, folder))
    fetched = FSSpecFileOpener(fetched, mode="rb").end_caching(mode="wb", same_filepath_fn=True)
    files = fetched.open_files(mode="b").load_from_tar().map(with_content)
    texts, labels = files.demux(2, is_text)
    samples = texts.zip_with_iter(labels, key_fn=key, merge_fn=pair)
    return samples.sharding_filter().max_token_bucketize(max_token_count=8, len_fn=words)


def words(sample):
    """How many tokens a sample counts."""
    return sample[0]


def main():
    """Two epochs over two workers; the second one reads what the first has fetched."""
    with tempfile.TemporaryDirectory() as folder:
        archive = f"{folder}/far/samples.tar.gz"
        Path(archive).parent.mkdir()
        make(archive)
        pipe = pipeline(archive, f"{folder}/near")
        with DataLoader2(pipe, CacheTimeout(60), reading_service=MultiProcessingReadingService(2)) as loader:
            for epoch in range(2):
                print(f"epoch {epoch}:", list(map(list, loader)))
        print("near:", sorted(path.name for path in Path(folder, "near").iterdir()))


if __name__ == "__main__":
    main()
