from connect_core.dev.supervisor import Backoff


def _delays(count: int) -> list[float]:
    backoff, delays = Backoff(), []
    for number in range(count):
        backoff.starts(float(number))
        delays.append(backoff.delay())
    return delays


def test_backoff_doubles_up_to_half_a_minute() -> None:
    assert _delays(8) == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_backoff_starts_at_once_the_first_time() -> None:
    assert Backoff().is_due(0.0)


def test_backoff_waits_after_a_start() -> None:
    backoff = Backoff()
    backoff.starts(10.0)
    assert not backoff.is_due(10.4)
    assert backoff.is_due(10.5)


def test_backoff_forgets_after_a_long_life() -> None:
    backoff = Backoff()
    for second in (0.0, 1.0, 2.0):
        backoff.starts(second)
    backoff.starts(100.0)
    assert backoff.delay() == 0.5
