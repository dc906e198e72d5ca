"""Network folder: whether a folder lies on another machine, where processes cannot share memory through a file."""

from __future__ import annotations

import re
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = frozenset(
    "9p acfs afs beegfs ceph cifs coda fuse.ceph fuse.glusterfs fuse.s3fs fuse.sshfs glusterfs gpfs lustre ncpfs nfs"
    " nfs4 ocfs2 orangefs pvfs2 smb2 smb3 smbfs".split()
)

_ESCAPE = re.compile(r"\\([0-7]{3})")  # a blank in a name is \040


def is_on_network(folder: Path) -> bool:
    """By the table of mounts, where the system has one."""
    try:
        lines = _MOUNTS.read_text(errors="replace").splitlines()
    except OSError:
        return False
    return kind_of_mount(folder.resolve(), lines) in _NETWORK


def kind_of_mount(folder: Path, mountinfo: list[str]) -> str:
    """The kind of file system that holds a folder: that of the deepest mount above it, the latest where they cover."""
    depth, kind = -1, ""
    for line in mountinfo:
        place, _, system = line.partition(" - ")
        fields, after = place.split(), system.split()
        if len(fields) < 5 or not after:
            continue
        mount = Path(_ESCAPE.sub(lambda found: chr(int(found[1], 8)), fields[4]))
        if folder.is_relative_to(mount) and len(mount.parts) >= depth:
            depth, kind = len(mount.parts), after[0]
    return kind
