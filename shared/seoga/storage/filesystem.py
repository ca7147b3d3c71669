"""Where a database must not lie: network mounts and folders that a cloud client synchronises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from seoga.errors import StorageError

# WAL needs shared memory and locks that these do not give to two machines (sqlite.org/wal.html,
# "overview" point 3).
_KINDS = (
    "nfs nfs3 nfs4 cifs smb smb2 smb3 smbfs ncpfs afs coda ceph lustre gfs gfs2 ocfs2 9p davfs "
    "vboxsf drvfs"
)
_FUSE = (
    "sshfs smbnetfs glusterfs ceph davfs davfs2 rclone s3fs gcsfuse goofys curlftpfs juicefs "
    "google-drive-ocamlfuse onedriver gvfsd-fuse"
)
NETWORK_TYPES = frozenset(_KINDS.split()) | {f"fuse.{kind}" for kind in _FUSE.split()}
_CLOUD = re.compile(
    r"onedrive( ?- ?.+)?|dropbox( ?\(.+\))?|icloud ?drive|mobile documents|com~apple~clouddocs"
    r"|cloudstorage|google ?drive",
    re.IGNORECASE,
)
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPE = re.compile(r"\\([0-7]{3})")


def file_system(path: Path, mountinfo: str) -> str:
    """The type of the file system that `path` (absolute, resolved) lies on, by the longest mount
    point; "" if unknown.

    `mountinfo` is the text of /proc/self/mountinfo: see proc_pid_mountinfo(5).
    """
    best, kind = -1, ""
    for point, found in _points(mountinfo):
        # ">=": of two mounts at one point, the later covers the earlier.
        if len(point.parts) >= best and path.is_relative_to(point):
            best, kind = len(point.parts), found
    return kind


def _points(mountinfo: str) -> Iterator[tuple[Path, str]]:
    for line in mountinfo.splitlines():
        left, dash, right = line.partition(" - ")
        fields = left.split(" ")
        if dash and len(fields) >= 5:
            point = Path(_ESCAPE.sub(lambda found: chr(int(found[1], 8)), fields[4]))
            yield point, right.split(" ")[0]


def file_systems(root: Path, mountinfo: str | None = None) -> set[str]:
    """The types of the file systems that the folder lies on, and of those mounted below it."""
    real, mounts = root.resolve(), _mounts(mountinfo)
    return {file_system(real, mounts), *(kind for _, kind in _below(real, mounts))} - {""}


def _below(real: Path, mounts: str) -> Iterator[tuple[Path, str]]:
    return ((point, kind) for point, kind in _points(mounts) if point.is_relative_to(real))


def is_network(path: Path, mountinfo: str | None = None) -> bool:
    """True when `path` lies on a network mount; False where the system does not tell (no /proc)."""
    return file_system(path.resolve(), _mounts(mountinfo)) in NETWORK_TYPES


def refuse_remote(folder: Path, mountinfo: str | None = None) -> None:
    """Raises StorageError when a database in `folder` would be at risk; the hint names a path to
    use instead."""
    real, mounts = folder.resolve(), _mounts(mountinfo)
    if (kind := file_system(real, mounts)) in NETWORK_TYPES:
        raise StorageError(
            f"{real} is on a network file system ({kind}), where SQLite's locks do not hold",
            _instead(mounts),
        )
    for part in real.parts:
        if _CLOUD.fullmatch(part):
            raise StorageError(
                f"{real} is synchronised by a cloud client ({part}), which corrupts open databases",
                _instead(mounts),
            )


def _mounts(given: str | None) -> str:
    if given is not None:
        return given
    return _MOUNTS.read_text(encoding="utf-8", errors="replace") if _MOUNTS.exists() else ""


def _instead(mounts: str) -> str:
    local = Path(platformdirs.user_data_dir("seoga"))
    if file_system(local.resolve(), mounts) in NETWORK_TYPES:
        local = Path("/var/lib/seoga")
    return (
        "Keep the databases on a local disk: set SEOGA_BASE_PATH (or --base-path),"
        f" for example to {local}."
    )
