"""A storage on a disk that can be made full from outside, without the rights that mounting a real one needs."""

import errno
import os
from pathlib import Path

from django.core.files.base import ContentFile, File
from django.core.files.storage import FileSystemStorage

FLAG = "full"  # the file beside the storage's folder that makes the disk full


class DiskThatFills(FileSystemStorage):
    """While the flag is there, half of a file is written and then the system's error is raised, as on a full disk."""

    def _save(self, name: str, content: File) -> str:
        if not (Path(self.location).parent / FLAG).exists():
            return super()._save(name, content)
        half = content.read()
        super()._save(name, ContentFile(half[: len(half) // 2]))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)
