"""Data to try things on: seeded generators, and the papers' small examples. All synthetic."""

from divulge.datasets.business_survey import business_survey
from divulge.datasets.companies import inflation_and_growth
from divulge.datasets.examples import (
    frequency_table_example,
    inflation_and_growth_example,
    language_example,
    local_suppression_example,
    occupations_example,
    purchases_example,
    school_year_example,
    trade_totals_example,
    trade_transactions_example,
)
from divulge.datasets.ownership import ownership
from divulge.datasets.payments import payment_histories
from divulge.datasets.school_census import school_census
from divulge.datasets.trade import TradeMonth, trade_month

__all__ = [
    "TradeMonth",
    "business_survey",
    "frequency_table_example",
    "inflation_and_growth",
    "inflation_and_growth_example",
    "language_example",
    "local_suppression_example",
    "occupations_example",
    "ownership",
    "payment_histories",
    "purchases_example",
    "school_census",
    "school_year_example",
    "trade_month",
    "trade_totals_example",
    "trade_transactions_example",
]
