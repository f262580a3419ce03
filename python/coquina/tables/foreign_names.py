"""Names that tables have in PyTables, pandas and Polars, and what is written here in their place.

In: the name of an attribute that a table, a selection or groups do not have. Out: the text of the error.
"""

from __future__ import annotations

#: What to write, by the foreign name; `t` is the table or the selection.
_ADVICE = {
    # PyTables
    "append_where": "t.where(condition).append_to(other)",
    "col": "t['price'][:]",
    "coldescrs": "t.schema",
    "coldtypes": "t.dtype",
    "colindexes": "t.indexes",
    "colnames": "t.columns",
    "cols": "t['price']",
    "get_where_list": "t.where(condition).row_numbers()",
    "itersequence": "t[[3, 5]]",
    "iterrows": "for row in t",
    "modify_coordinates": "t['price'][[3, 5]] = values",
    "modify_column": "t['price'][...] = values",
    "modify_rows": "t['price'][3:5] = values, or t.modify(condition, values)",
    "read_coordinates": "t[[3, 5]]",
    "read_where": "t.where(condition, params).to_numpy()",
    "reindex": "t.refresh_index(name)",
    "remove_row": "t.delete(condition)",
    "remove_rows": "t.delete(condition)",
    "remove_index": "t.drop_index(name)",
    "row": "t.append([(value, value)]), with tuples in the order of the columns",
    "will_query_use_indexing": "t.will_use_index(condition)",
    # pandas, Polars
    "collect": "t.to_numpy(), t.to_pandas() or t.to_polars()",
    "describe": "t.to_pandas().describe(), or t.min(name), t.max(name), t.mean(name), t.std(name)",
    "drop": "t.drop_column(name)",
    "dtypes": "t.dtype",
    "filter": "t.where('price > 20')",
    "groupby": "t.group_by(names).agg(...)",
    "iloc": "t[5:9]",
    "index": "t.create_index(name), t.indexes",
    "isna": "t.where('price is null')",
    "itertuples": "for row in t",
    "loc": "t.where('price > 20').select(names)",
    "nlargest": "t.order_by(name, descending=True).head(n)",
    "nsmallest": "t.order_by(name).head(n)",
    "query": "t.where('price > 20')",
    "rename": "t.rename_column(old, new)",
    "sample": "t[rng.integers(len(t), size=n)]",
    "sort": "t.order_by(names)",
    "sort_values": "t.order_by(names)",
    "tail": "t[-5:]",
    "values": "t.to_numpy()",
    "with_columns": "t['name'] = t['price'] * 2",
}


def no_attribute(owner: str, name: str, what: str = "attribute") -> str:
    """Return the text of the error for a name that `owner` does not have; what: what it could have been."""
    advice = _ADVICE.get(name)
    return f"{owner} has no {what} {name!r}" + (f"; use {advice}" if advice else "")
