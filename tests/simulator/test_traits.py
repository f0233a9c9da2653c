"""Traits are drawn for themselves: each as often as the table says, and all meet that can."""

from __future__ import annotations

import pytest

from tests.simulator.campaign import Tally, report
from tests.simulator.history import KINDS, STORES, TARGETS, History
from tests.simulator.traits import APART, PAIRS, TRAITS, drawn, fields_of, may_have

pytestmark = pytest.mark.simulator

_SEEDS = 5000


def tally_of(seeds: int) -> Tally:
    """Return what traits so many histories of each kind have, without running one."""
    tally = Tally()
    for seed in range(seeds):
        for kind in KINDS:
            tally.traits[kind, *drawn(seed, kind)] += 1
    return tally


def test_every_pair_meets_and_each_share_is_near() -> None:
    tally = tally_of(_SEEDS)
    assert (tally.unmet, tally.uneven) == ((), ())


def test_pairs_meet_as_often_as_chance_has_it() -> None:
    """A trait is as frequent beside each other one as it is alone."""
    tally = tally_of(_SEEDS)
    for kind, one, other in PAIRS:
        beside = [count for key, count in tally.traits.items() if key[0] == kind and one in key and _may(other, key)]
        both = sum(count for key, count in tally.traits.items() if key[0] == kind and {one, other} <= {*key})
        wanted = TRAITS[other].probability * sum(beside)
        assert abs(both - wanted) < 5 * max(1.0, wanted) ** 0.5, (kind, one, other)


def _may(name: str, key: tuple[str, ...]) -> bool:
    earlier = list(TRAITS)[: list(TRAITS).index(name)]
    return may_have(name, key[0], [has for has in key[1:] if has in earlier])


def test_pairs_that_cannot_meet_never_do() -> None:
    for key in tally_of(1000).traits:
        assert not [pair for pair in APART if {*pair} <= {*key}]
    for (one, other), reason in APART.items():
        assert reason
        with pytest.raises(ValueError, match="cannot meet"):
            fields_of([one, other])


def test_a_trait_makes_its_history_special() -> None:
    for name, trait in TRAITS.items():
        for kind in trait.kinds:
            plain, special = History(kind), History(kind, **fields_of([name]))
            assert getattr(plain, trait.field) != getattr(special, trait.field) == trait.value
    assert {trait.value for trait in TRAITS.values() if trait.field == "store"} <= {*STORES}
    assert {trait.value for trait in TRAITS.values() if trait.field == "target"} <= {*TARGETS}


def test_a_seed_has_the_same_traits_every_time() -> None:
    assert [drawn(seed, "files") for seed in range(50)] == [drawn(seed, "files") for seed in range(50)]
    assert len({drawn(seed, "files") for seed in range(200)}) > 10


def test_a_pair_that_is_not_met_and_a_share_that_is_uneven_are_named() -> None:
    tally = tally_of(_SEEDS)
    for key in [key for key in tally.traits if {"files", "latest", "moves"} <= {*key}]:
        del tally.traits[key]
    assert tally.unmet == ("files: latest and moves",)
    assert [text.partition(":")[0] for text in tally.uneven] == ["latest", "moves"]
    assert "Never met: files: latest and moves." in report(tally, 0, 1.0)
