"""The kinds of columns that tables have.

In: stored parts. Out: columns: the engine's sources, values for people, conditions.
"""

from coquina.tables.category_columns import CategoricalColumn, EnumColumn
from coquina.tables.column import Column
from coquina.tables.null_columns import NullableColumn
from coquina.tables.number_columns import BitsColumn, NumberColumn
from coquina.tables.stored import Stored
from coquina.tables.string_columns import StringColumn
from coquina.tables.time_columns import DatetimeColumn, TimeColumn
from coquina.tables.value_columns import ValuesColumn

__all__ = [
    "BitsColumn",
    "CategoricalColumn",
    "Column",
    "DatetimeColumn",
    "EnumColumn",
    "NullableColumn",
    "NumberColumn",
    "Stored",
    "StringColumn",
    "TimeColumn",
    "ValuesColumn",
]
