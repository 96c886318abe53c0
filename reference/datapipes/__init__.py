"""Pipes that torch has no more: the names of torchdata 0.9 that programs use. Chapter 8 lists those that are not here.

All others (`IterableWrapper`, `open_files`, `shuffle`, `sharding_filter`, `map`, ...) are torch's own. Importing this
package registers the functional forms, so that a chain reads as it did: `pipe.open_files().parse_csv()`.
"""

from .ahead import PinMemory, Prefetcher
from .archives import Decompressor, TarArchiveLoader, ZipArchiveLoader
from .buckets import BucketBatcher, InBatchShuffler, MaxTokenBucketizer
from .counting import Cycler, Enumerator, Header, LengthSetter, Repeater
from .disk_cache import EndOnDiskCacheHolder, OnDiskCacheHolder
from .files import FSSpecFileLister, FSSpecFileOpener
from .joining import IterKeyZipper, IterToMapConverter, MapKeyZipper, MapToIterConverter, UnZipper
from .mapping import BatchMapper, FlatMapper
from .memory_cache import InMemoryCacheHolder
from .reading import CSVDictParser, CSVParser, JsonParser, LineReader
from .sharing import FullSync, ShardingRoundRobinDispatcher
from .splitting import RandomSplitter

__all__ = [
    "BatchMapper",
    "BucketBatcher",
    "CSVDictParser",
    "CSVParser",
    "Cycler",
    "Decompressor",
    "EndOnDiskCacheHolder",
    "Enumerator",
    "FSSpecFileLister",
    "FSSpecFileOpener",
    "FlatMapper",
    "FullSync",
    "Header",
    "InBatchShuffler",
    "InMemoryCacheHolder",
    "IterKeyZipper",
    "IterToMapConverter",
    "JsonParser",
    "LengthSetter",
    "LineReader",
    "MapKeyZipper",
    "MapToIterConverter",
    "MaxTokenBucketizer",
    "OnDiskCacheHolder",
    "PinMemory",
    "Prefetcher",
    "RandomSplitter",
    "Repeater",
    "ShardingRoundRobinDispatcher",
    "TarArchiveLoader",
    "UnZipper",
    "ZipArchiveLoader",
]
