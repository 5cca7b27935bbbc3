"""Damaged spreadsheets: archives with broken bytes, and whole archives of broken parts.

The checksums of an archive keep damage from the readers of its parts, so most parts are damaged
before they are put together again.
"""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Mapping, Sequence

from tests.robustness.mutations import mutate

MOMENT = (1980, 1, 1, 0, 0, 0)
URN = "urn:oasis:names:tc:opendocument:xmlns"


def make_open_document(rows: Sequence[Sequence[str]]) -> bytes:
    """A sheet as LibreOffice writes it, out of its cells: no library that we have writes them."""
    body = "".join(f"<table:table-row>{''.join(row)}</table:table-row>" for row in rows)
    content = (
        f'<office:document-content xmlns:office="{URN}:office:1.0" xmlns:table="{URN}:table:1.0" '
        f'xmlns:text="{URN}:text:1.0"><office:body><office:spreadsheet><table:table table:name="a">'
        f"{body}</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        f'<manifest:manifest xmlns:manifest="{URN}:manifest:1.0"><manifest:file-entry '
        f'manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>'
    )
    parts = {"mimetype": kind, "META-INF/manifest.xml": manifest, "content.xml": content}
    return pack({name: text.encode() for name, text in parts.items()})


def write_cell(value: str | float | None) -> str:
    """One cell: a text, a number, or nothing."""
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, str):
        text = f"<text:p>{value}</text:p>"
        return f'<table:table-cell office:value-type="string">{text}</table:table-cell>'
    return f'<table:table-cell office:value-type="float" office:value="{value}"/>'


def unpack(archive: bytes) -> dict[str, bytes]:
    """The parts of an archive by name."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def pack(parts: Mapping[str, bytes]) -> bytes:
    """An archive of these parts, the same whenever it is made."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, MOMENT), content)
    return file.getvalue()


def damage_spreadsheet(spreadsheets: Sequence[bytes], source: random.Random) -> bytes:
    """One of some spreadsheets with damage: of its archive, of a part, or without a part."""
    whole = source.choice(spreadsheets)
    choice = source.random()
    if choice < 0.2:
        return mutate(whole, spreadsheets, source, False)
    parts = unpack(whole)
    names = sorted(name for name in parts if name.endswith((".xml", ".rels")))
    sheets = [name for name in names if "sheet1" in name or name == "content.xml"]
    name = source.choice(sheets if source.random() < 0.6 else names)
    if choice < 0.25:
        del parts[name]
    else:
        parts[name] = mutate(parts[name], (), source, True)
    return pack(parts)
