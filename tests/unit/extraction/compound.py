"""Compound files (MS-CFB) written for the tests of HWP 5 and of old Office files."""

from __future__ import annotations

import struct

SECTOR = 512
END, FREE, FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


def entry(name: str, kind: int, extent: tuple[int, int], child: int, right: int) -> bytes:
    label = name.encode("utf-16-le")
    head = label.ljust(64, b"\x00") + struct.pack("<HBB", len(label) + 2 if name else 0, kind, 1)
    links = struct.pack("<III", FREE, right, child)
    return head + links + bytes(36) + struct.pack("<IQ", *extent)


def compound(streams: dict[str, bytes]) -> bytes:
    """A compound file (MS-CFB) with streams of the root and of one storage level.

    Streams are padded to 4096 bytes, so that none needs the mini stream.
    """
    streams = {name: data.ljust(4096, b"\x00") for name, data in streams.items()}
    storages = sorted({name.split("/")[0] for name in streams if "/" in name})
    top = storages + [name for name in streams if "/" not in name]
    order = top + [name for name in streams if "/" in name]
    body, chain, starts = b"", [], {}
    for name, data in streams.items():
        starts[name] = len(chain)
        count = -(-len(data) // SECTOR)
        body += data.ljust(count * SECTOR, b"\x00")
        chain += [*range(len(chain) + 1, len(chain) + count), END]
    directory = entry("Root Entry", 5, (END, 0), 1, FREE)
    for name in order:
        inside = [one for one in order if one.startswith(f"{name}/")]
        siblings = top if name in top else [one for one in order if one[:5] == name[:5]]
        siblings = [one for one in siblings if one in top or "/" in one]
        after = siblings[siblings.index(name) + 1 :]
        right = order.index(after[0]) + 1 if after else FREE
        child = order.index(inside[0]) + 1 if inside else FREE
        kind = 1 if name in storages else 2
        extent = (starts.get(name, 0), len(streams.get(name, b"")))
        directory += entry(name.split("/")[-1], kind, extent, child, right)
    directory += entry("", 0, (0, 0), FREE, FREE) * (-len(directory) // 128 % 4)
    at = len(chain)
    count = len(directory) // SECTOR
    chain += [*range(at + 1, at + count), END]
    fats = -(-(len(chain) + len(chain) // 100 + 2) // 128)
    first_fat = len(chain)
    table = [*chain, *[FAT] * fats]
    table += [FREE] * (fats * 128 - len(table))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<HHHHH6xII", 0x3E, 3, 0xFFFE, 9, 6, 0, fats)
    header += struct.pack("<IIIIIII", at, 0, 4096, END, 0, END, 0)
    difat = [*range(first_fat, first_fat + fats)]
    header += struct.pack("<109I", *difat, *[FREE] * (109 - fats))
    return header + body + directory + struct.pack(f"<{len(table)}I", *table)
