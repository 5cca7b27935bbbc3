"""Usual names of attributes in card, retail, call and mobility data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Names = Mapping[str, Sequence[str]]

PRESETS: Mapping[str, Names] = {
    "card": {
        "user": ("user", "user_id", "card", "card_id", "customer", "customer_id", "account"),
        "time": ("time", "timestamp", "datetime", "date", "ts"),
        "item": ("merchant", "merchant_id", "shop", "mcc", "category"),
        "amount": ("amount", "value", "price"),
    },
    "retail": {
        "user": ("user", "user_id", "customer", "customer_id", "customerid", "household"),
        "time": ("date", "ts", "time", "timestamp", "datetime", "invoicedate"),
        "item": ("goods", "item", "item_id", "product", "product_id", "stockcode", "sku"),
        "amount": ("number", "quantity", "amount"),
    },
    "call": {
        "user": ("caller", "user", "user_id", "subscriber", "msisdn", "imsi"),
        "time": ("time", "timestamp", "datetime", "start", "date", "ts"),
        "item": ("callee", "called", "receiver", "number_called"),
        "amount": ("duration", "seconds"),
    },
    "mobility": {
        "user": ("user", "user_id", "uid", "device", "device_id", "subscriber"),
        "time": ("time", "timestamp", "datetime", "date", "ts"),
        "item": ("antenna", "cell", "cell_id", "place", "location", "zone", "station"),
    },
}
"""Per kind of data, what its user, time, item and amount are usually called."""


def find_usual_names(preset: Names, names: Sequence[str]) -> dict[str, str]:
    """The attributes whose names are usual, whatever their capitals.

    >>> find_usual_names(PRESETS["retail"], ["CustomerID", "InvoiceDate", "StockCode"])
    {'user': 'CustomerID', 'time': 'InvoiceDate', 'item': 'StockCode'}
    """
    lower = {name.lower().replace(" ", "_"): name for name in reversed(names)}
    attributes = {}
    for part, usual in preset.items():
        name = next((lower[word] for word in usual if word in lower), None)
        if name is not None:
            attributes[part] = name
    return attributes
