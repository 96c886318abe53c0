"""Words out of a zip file, their classes out of CSV and JSON, joined by key; then pipes between a dataset and a loop.

Run it: python -m reference.run specs/examples/pipelines/many_files.py
"""

import json
import tempfile
import zipfile
from pathlib import Path, PurePath

from torchdata.dataloader2 import DataLoader2, InProcessReadingService
from torchdata.dataloader2.graph import find_dps, list_dps, remove_dp, traverse_dps
from torchdata.datapipes.iter import BatchMapper, FSSpecFileLister, FSSpecFileOpener, IterableWrapper
from torchdata.datapipes.map import SequenceWrapper

TEXTS = {"a": "one two\nthree\n", "b": "four five six\n"}


def make(folder):
    """Two texts in an archive, a table that says the class of each, and a number for each class."""
    with zipfile.ZipFile(folder / "texts.zip", "w") as archive:
        for name, text in TEXTS.items():
            archive.writestr(f"{name}.txt", text)
    (folder / "rows.csv").write_text("text,class\na,verse\nb,prose\n")
    (folder / "classes.json").write_text(json.dumps({"verse": 0, "prose": 1}))


def text_of(line):
    """Which text a line is from, by the name of its file."""
    return PurePath(line[0]).stem


def pair(row):
    """A row of the table as a key and its value."""
    return row["text"], row["class"]


def items(parsed):
    """The pairs of a JSON object, of which the path is left out."""
    return list(parsed[1].items())


def words(sample):
    """Each word of a line with the class of its text."""
    (_, line), name = sample
    return [(word, name) for word in line.split()]


def upper(batch):
    """A batch at once."""
    return [(word.upper(), name) for word, name in batch]


def pipeline(folder):
    """Words in capitals with their classes, read from files once an epoch was whole."""
    archives = FSSpecFileLister(str(folder), masks=["*.zip"])
    lines = FSSpecFileOpener(archives, mode="rb").load_from_zip().readlines(decode=True)
    rows = IterableWrapper([str(folder / "rows.csv")]).open_files().parse_csv_as_dict()
    return lines.zip_with_map(rows.map(pair).to_map_datapipe(), key_fn=text_of).flatmap(words).map_batches(upper, 2)


def by_length(batch):
    """Short words first."""
    return sorted(batch, key=len)


def main():
    """One dataset, seen through several pipes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder)
        pipe = pipeline(folder)
        classes = IterableWrapper([str(folder / "classes.json")]).open_files().parse_json_files().flatmap(items)
        print("classes:", dict(classes))
        with DataLoader2(pipe.in_memory_cache().shuffle(), reading_service=InProcessReadingService(2)) as loader:
            loader.seed(0)
            iterator = iter(loader)
            print("epoch:", list(iterator), iterator.dataloader is loader)
        graph = traverse_dps(pipe)
        plain = remove_dp(graph, find_dps(graph, BatchMapper)[0])
        print("without capitals:", list(next(iter(plain.values()))[0].header(2)), f"of {len(list_dps(graph))} pipes")
        spelled, _ = pipe.unzip(sequence_length=2)
        with DataLoader2(spelled.bucketbatch(2, batch_num=3, bucket_num=1, sort_key=by_length)) as loader:
            loader.seed(0)
            print("by length:", list(loader))
    numbers = SequenceWrapper(range(3)).to_iter_datapipe()
    for shown in (numbers.cycle(2), numbers.repeat(2), numbers.prefetch(2).header(2).pin_memory()):
        print(len(shown), list(shown))


if __name__ == "__main__":
    main()
