"""How the scripts of this folder write what they found: a row a line, so that a change is seen."""

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path


def save(script: str, made_by: str, sections: dict[str, list]) -> None:
    """Write sections of rows to the JSON file that is named like the script."""
    body = ",\n".join(
        f' "{name}": [\n' + ",\n".join(f"  {json.dumps(row)}" for row in rows) + "\n ]"
        for name, rows in sections.items()
    )
    text = f'{{\n "made_by": "{made_by}",\n{body}\n}}\n'
    Path(script).with_suffix(".json").write_text(text, encoding="utf-8")


def exact(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / x.denominator


def digits(x: Fraction | Decimal) -> str:
    """40 significant digits, a short fraction as such."""
    if isinstance(x, Fraction):
        if len(str(x)) <= 42:
            return str(x)
        x = exact(x)
    return f"{x:.39e}"
