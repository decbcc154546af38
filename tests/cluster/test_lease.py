"""Leases and the directory, without clock and bus: whatever is lost or late, no two nodes may write at a time."""

from hypothesis import example, given
from hypothesis import strategies as st

from croupier.cluster.directory import Directory
from croupier.cluster.lease import Membership, Timing, preferred_owner

TIMING = Timing()

steps = st.lists(
    st.tuples(
        st.sampled_from(["renew", "renew lost", "renew unanswered", "renew other", "watch again", "wait"]),
        st.floats(0.0, 1.5),
        st.floats(0.0, 1.0),
    ),
    max_size=60,
)


@given(steps)
@example([("renew other", 1.0, 0.0), ("renew other", 1.5, 0.0), ("renew", 0.0, 1.0), ("renew", 0.5, 0.0)])
def test_a_house_is_claimed_only_after_its_owner_has_stopped_writing(
    events: list[tuple[str, float, float]],
) -> None:
    """Each event comes some time after the one before; renewals reach the other node after a delay, or never.

    The other node sees all renewals in the order in which they were made, its own among them.
    """
    owner, other = Membership("ada"), Membership("bea")
    directory = Directory(1, other)
    owner.renewed(0.0, 1)
    other.observe("ada", "ready", 1, 0.0)  # a watch yields the node that owns a house before the house
    directory.observe(1, "ada", 2)
    now, revision = 0.0, 2
    late: list[tuple[float, int]] = []
    for kind, pause, delay in [*events, ("wait", 2.9, 0.0), ("renew other", 0.2, 0.0)]:
        now += pause
        revision += 1
        for at, seen in [each for each in late if each[0] <= now]:
            other.observe("ada", "ready", seen, at)
        late = [each for each in late if each[0] > now]
        match kind:
            case "renew" | "renew lost" | "renew unanswered" if not owner.may_write(now):
                pass  # it is fenced: before it writes again it reads who owns the house
            case "renew":
                owner.renewed(now, revision)
                late.append((now + delay, revision))
            case "renew lost":  # the other node does not see it
                owner.renewed(now, revision)
                other.watch_restarted(now)  # as it does when its watch has ended, before it judges again
            case "renew unanswered":
                late.append((now + delay, revision))
            case "renew other":
                other.renewed(now, revision)
                for _, seen in late:
                    other.observe("ada", "ready", seen, now)
                late.clear()
                other.observe("bea", "ready", revision, now)
            case "watch again":
                other.watch_restarted(now)
        if directory.claims(now):
            assert not owner.may_write(now)
    later = now + 2 * TIMING.lease
    other.renewed(later, revision + 1)
    other.observe("bea", "ready", revision + 1, later)
    assert directory.live_owner(1, later) is None
    assert directory.claims(later) + directory.claims(later + TIMING.wait)


def test_a_renewal_that_is_known_proves_nothing() -> None:
    """A watch that is opened again yields the keys as they are, also those of dead nodes."""
    membership = Membership("ada")
    membership.observe("bea", "ready", 5, 0.0)
    membership.observe("bea", "ready", 5, 2.0)
    assert membership.live(2.9) == {"bea"}
    assert membership.live(3.0) == set()


def test_a_node_does_not_judge_while_its_own_renewals_do_not_come_back() -> None:
    membership = Membership("ada")
    directory = Directory(2, membership)
    membership.observe("ada", "ready", 1, 0.0)
    assert directory.claims(0.0)
    assert directory.claims(TIMING.judge) == []
    membership.watch_restarted(1.6)
    assert directory.claims(1.6) == []
    membership.observe("ada", "ready", 2, 1.7)
    assert directory.claims(1.7)


def test_a_free_house_is_claimed_by_its_preferred_owner_first() -> None:
    house, names = 1, {"ada", "bea"}
    first = preferred_owner(house, names)
    (second,) = names - {first}
    for name, when in ((first, 0.0), (second, TIMING.wait)):
        membership = Membership(name)
        directory = Directory(house, membership)
        for at in (0.0, when):
            for revision, node in enumerate(sorted(names), start=1 + int(at * 10)):
                membership.observe(node, "ready", revision, at)
            found = directory.claims(at)
            assert found == ([house] if at == when else [])


def test_a_node_that_has_stopped_or_drains_takes_no_house() -> None:
    for state in ("stopped", "draining"):
        membership = Membership("ada")
        directory = Directory(1, membership)
        directory.observe(1, "bea", 1)
        membership.observe("ada", "ready", 1, 0.0)
        membership.observe("bea", "ready", 2, 0.0)
        assert directory.claims(0.0) == []
        membership.observe("bea", state, 3, 0.1)
        assert bool(directory.claims(0.1)) == (state == "stopped")
        assert membership.ready(0.1) == {"ada"}


@given(st.sets(st.sampled_from("abcdefgh"), min_size=2))
def test_a_node_that_ends_moves_only_its_own_houses(nodes: set[str]) -> None:
    for house in range(1, 20):
        owner = preferred_owner(house, nodes)
        for gone in nodes - {owner}:
            assert preferred_owner(house, nodes - {gone}) == owner


def test_an_older_owner_replaces_no_newer_one() -> None:
    directory = Directory(1, Membership("ada"))
    directory.observe(1, "ada", 7)
    directory.observe(1, "bea", 6)
    assert directory.ownership(1).owner == "ada"
    assert directory.own_houses() == {1}
    directory.observe(99, "ada", 8)  # of a cluster with more houses
    assert directory.own_houses() == {1}
