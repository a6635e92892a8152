"""Names of data in figures."""

from repeval.companion.plots import style


def test_names_stay_different_and_printable():
    many = [f"vendor/some-very-long-model-name-{i:02}-instruct" for i in range(40)]
    assert len(set(style.names(many))) == 40
    assert max(map(len, style.names(many))) <= style.NAME
    assert style.name("a\nb\x1b") == "a?b?"
    assert len(style.name("模" * 40)) <= style.NAME // 2
    assert style.names(["same", "same"]) == ["same", "same"]
