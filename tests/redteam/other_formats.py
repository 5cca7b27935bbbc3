"""Sources and published files of other formats, written and read without the product.

Workbooks of OpenDocument are plain XML in a zip file, written here by hand; they are published as
Parquet, since nothing writes them.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

Rows = Sequence[Mapping[str, Any]]

HIDDEN_WORD = "suppressed"
MANIFEST = """<?xml version="1.0" encoding="UTF-8"?>
<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">
<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>
<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>
</manifest:manifest>"""
CONTENT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2">
<office:body><office:spreadsheet><table:table table:name="people">{rows}</table:table>
</office:spreadsheet></office:body></office:document-content>"""
KIND = "application/vnd.oasis.opendocument.spreadsheet"


def write_ods(path: Path, rows: Rows) -> None:
    """A workbook of OpenDocument with one sheet."""
    lines = [_write_line(list(rows[0])), *(_write_line(list(row.values())) for row in rows)]
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mimetype", KIND)
        file.writestr("META-INF/manifest.xml", MANIFEST.format(kind=KIND))
        file.writestr("content.xml", CONTENT.format(rows="".join(lines)))


def _write_line(values: Sequence[Any]) -> str:
    return f"<table:table-row>{''.join(map(_write_cell, values))}</table:table-row>"


def _write_cell(value: Any) -> str:
    if value is None:
        return "<table:table-cell/>"
    text = f"<text:p>{escape(str(value))}</text:p>"
    if isinstance(value, str):
        kind = 'office:value-type="string"'
    else:
        kind = f'office:value-type="float" office:value={quoteattr(str(value))}'
    return f"<table:table-cell {kind}>{text}</table:table-cell>"


def write_workbook(path: Path, rows: Rows) -> None:
    """A workbook of Excel with one sheet."""
    import pandas as pd

    pd.DataFrame(rows, dtype=object).to_excel(path, index=False)


def write_feather(path: Path, rows: Rows) -> None:
    """An Arrow file in which texts are dictionaries, with the file's own description."""
    import pyarrow as pa
    from pyarrow import feather

    feather.write_feather(_build_table(pa, rows), str(path))


def write_categories(path: Path, rows: Rows) -> None:
    """A Parquet file in which texts are dictionaries."""
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(_build_table(pa, rows), path)


def _build_table(pa: Any, rows: Rows) -> Any:
    columns = {name: pa.array([row[name] for row in rows]) for name in rows[0]}
    table = pa.table(
        {
            name: column.dictionary_encode() if pa.types.is_string(column.type) else column
            for name, column in columns.items()
        }
    )
    told = "; ".join(f"{name}: {sorted({str(row[name]) for row in rows})}" for name in rows[0])
    return table.replace_schema_metadata({"codebook": told})


def write_labels(path: Path, rows: Rows) -> None:
    """An SPSS or Stata file in which texts of some columns are labels of numbers."""
    import pandas as pd
    import pyreadstat

    labels: dict[str, Any] = {}
    columns: dict[str, Any] = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        texts = sorted({value for value in values if isinstance(value, str)})
        if texts and name != "name":
            code = {text: float(number) for number, text in enumerate(texts)}
            labels[name] = {number: text for text, number in code.items()}
            columns[name] = pd.Series([code.get(value) for value in values], dtype="float64")
        else:
            columns[name] = values if texts else pd.Series(values, dtype="float64")
    frame = pd.DataFrame(columns)
    if path.suffix == ".sav":
        pyreadstat.write_sav(frame, str(path), variable_value_labels=labels)
        return
    whole: dict[str, Any] = {
        name: {int(code): text for code, text in of.items()} for name, of in labels.items()
    }
    pyreadstat.write_dta(frame, str(path), variable_value_labels=whole)


WRITERS: Mapping[str, Callable[[Path, Rows], None]] = {
    "people.ods": write_ods,
    "people.xlsx": write_workbook,
    "people.feather": write_feather,
    "people.parquet": write_categories,
    "people.sav": write_labels,
    "people.dta": write_labels,
}
"""How sources are written, by their name."""


def read_records(path: Path) -> list[dict[str, Any]]:
    """The records of a file, with labels for the codes that have one, and a word for what is hidden."""
    if path.suffix == ".xlsx":
        import pandas as pd

        frame = pd.read_excel(
            path, dtype=object, keep_default_na=False, na_values=[""], engine="openpyxl"
        )
        return _list_rows(frame)
    if path.suffix == ".parquet":
        from pyarrow import parquet

        return list(parquet.read_table(path).to_pylist())
    if path.suffix == ".feather":
        from pyarrow import feather

        return list(feather.read_table(str(path)).to_pylist())
    if path.suffix == ".dta":
        return _read_stata(path)
    import pyreadstat

    frame, about = pyreadstat.read_sav(str(path), user_missing=True)
    rows = _list_rows(frame.astype(object))
    for row in rows:
        for name, value in row.items():
            row[name] = about.variable_value_labels.get(name, {}).get(value, value)
    return rows


def _read_stata(path: Path) -> list[dict[str, Any]]:
    """By pandas, but for labels: pyreadstat 1.3 gives numbers from anywhere for missing ones here."""
    import pandas as pd
    import pyreadstat

    labels = pyreadstat.read_dta(str(path), metadataonly=True)[1].variable_value_labels
    frame = pd.read_stata(path, convert_categoricals=False, convert_missing=True).astype(object)
    rows = _list_rows(frame)
    for row in rows:
        for name, value in row.items():
            if str(value)[0:1] == ".":  # the tag of a missing value says that it was hidden
                row[name] = HIDDEN_WORD if str(value) == ".s" else None
            else:
                row[name] = labels.get(name, {}).get(value, value)
    return rows


def _list_rows(frame: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = frame.to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def list_contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """All that the files of a folder hold, unpacked."""
    for path in sorted(folder.iterdir()):
        yield path.name, path.read_bytes()
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                yield from ((name, packed.read(name)) for name in packed.namelist())
        if path.suffix in (".parquet", ".feather"):
            yield f"{path.name}, described", _describe_columns(path)


def _describe_columns(path: Path) -> bytes:
    """What a columnar file holds beside its cells: schema, key-value pairs, dictionaries, statistics."""
    from pyarrow import feather, parquet

    if path.suffix == ".feather":
        table = feather.read_table(str(path))
        parts = [str(table.schema), str(table.schema.metadata)]
        parts += [
            str(getattr(chunk, "dictionary", "")) for c in table.columns for chunk in c.chunks
        ]
        return "\n".join(parts).encode()
    file = parquet.ParquetFile(path)
    parts = [str(file.schema_arrow), str(file.metadata.metadata), str(file.schema_arrow.metadata)]
    for group in range(file.metadata.num_row_groups):
        for column in range(file.metadata.num_columns):
            statistics = file.metadata.row_group(group).column(column).statistics
            parts.append(f"{statistics.min} {statistics.max}" if statistics else "")
    texts = [field.name for field in file.schema_arrow if str(field.type) == "string"]
    for column in parquet.read_table(path, read_dictionary=texts).columns:
        parts += [str(getattr(chunk, "dictionary", [])) for chunk in column.chunks]
    return "\n".join(parts).encode()
