"""Files anywhere: listing, reading with patience, writing so that a file appears whole or not at all."""

from __future__ import annotations

import os
import posixpath
import secrets
import time
from collections import Counter
from datetime import datetime

import fsspec
from fsspec.implementations.local import LocalFileSystem

from .._native import extensions

# Names of the time of the last change, as the kinds of storage call it.
_MODIFIED = ("mtime", "LastModified", "last_modified", "updated", "modified")


class Folder:
    """A folder on some kind of storage; pickled, it opens it again elsewhere."""

    def __init__(self, url, options=None):
        self.url = os.fspath(url)
        self.options = dict(options or {})
        self._open()

    def _open(self):
        self.fs, root = fsspec.core.url_to_fs(self.url, **self.options)
        self.root = root.rstrip("/")
        self.is_local = isinstance(self.fs, LocalFileSystem)

    def __reduce__(self):
        return Folder, (self.url, self.options)

    def path(self, name):
        """Where a file of this folder is, for the storage."""
        return f"{self.root}/{name}"

    def listing(self):
        """All files below the folder by their names in it: (bytes, time of the last change or None)."""
        self.fs.invalidate_cache()
        try:
            found = self.fs.find(self.root, detail=True)
        except FileNotFoundError:
            return {}
        start = len(self.root) + 1
        return {path[start:]: (info.get("size") or 0, _modified(info)) for path, info in found.items()}

    def pictures(self):
        """The listing of what can be encoded, in order of name."""
        endings = tuple(f".{ending}" for ending in extensions())
        listing = self.listing()
        if not listing and not self.fs.exists(self.root):
            raise FileNotFoundError(f"{self.url} does not exist or holds nothing")
        return {name: listing[name] for name in sorted(listing) if name.lower().endswith(endings)}

    def read(self, name, retries=0):
        """The bytes of a file."""
        return _patiently(lambda: self.fs.cat_file(self.path(name)), retries)

    def write(self, name, data, retries=0):
        """Write a file that appears whole or not at all."""
        _patiently(lambda: self._write(self.path(name), data), retries)

    def stat(self, name):
        """Bytes and time of the last change of a file; None if there is none."""
        path = self.path(name)
        # What others write is not in the cache.
        self.fs.invalidate_cache(posixpath.dirname(path))
        try:
            info = self.fs.info(path)
        except FileNotFoundError:
            return None
        return info.get("size") or 0, _modified(info)

    def _write(self, path, data):
        if not self.is_local:
            # One object, one request: storage of objects shows it when it is whole.
            self.fs.pipe_file(path, data)
            return
        folder = os.path.dirname(path)
        os.makedirs(folder, exist_ok=True)
        temporary = os.path.join(folder, f".tessera-{os.getpid()}-{secrets.token_hex(4)}.tmp")
        try:
            with open(temporary, "xb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            if os.path.exists(temporary):
                os.remove(temporary)
            raise


def _modified(info):
    for key in _MODIFIED:
        value = info.get(key)
        if isinstance(value, datetime):
            return value.timestamp()
        if isinstance(value, (int, float)):
            return float(value)
    return None


def _patiently(call, retries):
    """Call again after a while if storage fails; what is not there will not be there then."""
    for attempt in range(retries + 1):
        try:
            return call()
        except (FileNotFoundError, PermissionError):
            raise
        except OSError:
            if attempt == retries:
                raise
            time.sleep(min(10.0, 0.2 * 2**attempt))


def output_names(names):
    """What each picture becomes: ``a.jpg`` is ``a.tsr``, but ``a.jpg.tsr`` where ``a.png`` is there too."""
    outputs = {name: posixpath.splitext(name)[0] + ".tsr" for name in names}
    while True:
        count = Counter(outputs.values())
        clashes = [name for name, output in outputs.items() if count[output] > 1]
        if not clashes:
            return outputs
        for name in clashes:
            outputs[name] = name + ".tsr"
