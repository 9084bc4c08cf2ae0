"""Checks of a submitted model, one function each, before any of its weights are downloaded.

A check returns a sentence for the submitter or raises a `ProbingError`. `examine` runs the checks in the order of
`RULES`. After a failure the others still run, except those that need what the failed check would have found out.
"""

from collections.abc import Callable
from typing import NamedTuple

from leaderboard.intake import check_rules
from leaderboard.intake.check_rules import AlreadyMeasured, Check, Examination, listing_of
from probing.errors import ProbingError
from probing.files.hub import allowance
from probing.files.listing import Listing

DEADLINE = 10  # seconds for all checks of one model
MOST_BYTES = 200 * 10**6  # that it may send for them
ADAPTER = "adapter"


class Rule(NamedTuple):
    """A check with its name on pages and the names of the checks that must have passed before it."""

    name: str
    check: Callable[[Examination], str]
    needs: tuple[str, ...] = ()


def examine(examination: Examination, on_check: Callable[[Check], None] | None = None) -> Examination:
    """Run every check, in order; skip those whose needs are not met. The hub has `DEADLINE` seconds for all of them.

    `on_check` is called after each check.
    """
    with allowance(DEADLINE, MOST_BYTES):
        for rule in RULES if "+" in examination.hub_id else RULES_WITHOUT_ADAPTER:
            passed = {check.name for check in examination.checks if check.state == "ok"}
            missing = [name for name in rule.needs if name not in passed]
            check = _skipped(rule, missing[0]) if missing else _apply(rule, examination)
            examination.checks += (check,)
            if on_check:
                on_check(check)
    return examination


def _skipped(rule: Rule, need: str) -> Check:
    return Check(rule.name, "skipped", f"Not checked: it needs “{need}” first.")


def _apply(rule: Rule, examination: Examination) -> Check:
    try:
        return Check(rule.name, "ok", rule.check(examination))
    except AlreadyMeasured as error:
        return Check(rule.name, "warning", error.message, error.next_step, error.code)
    except ProbingError as error:
        return Check(rule.name, "failed" if error.permanent else "warning", error.message, error.next_step, error.code)


def of_listing(check: Callable[[Listing], str]) -> Callable[[Examination], str]:
    """Adapt a check of the listing alone. Its rule must need "exists"."""
    return lambda examination: check(listing_of(examination))


RULES = (
    Rule("well-formed id", check_rules.well_formed),
    Rule("exists", check_rules.exists, ("well-formed id",)),
    Rule("public", of_listing(check_rules.public), ("exists",)),
    Rule("version pinned", of_listing(check_rules.version_pinned), ("exists",)),
    Rule("files safe", of_listing(check_rules.files_safe), ("exists", "public", "version pinned")),
    Rule("weights format", of_listing(check_rules.weights_format), ("files safe",)),
    Rule("config readable", check_rules.config_readable, ("files safe",)),
    Rule("no custom code", check_rules.no_custom_code, ("config readable",)),
    Rule("architecture known", check_rules.architecture_known, ("config readable",)),
    Rule("kind", check_rules.kind_known, ("config readable",)),
    Rule("fast tokenizer", check_rules.fast_tokenizer, ("config readable",)),
    Rule("start token", check_rules.start_token, ("fast tokenizer", "kind")),
    Rule(ADAPTER, check_rules.adapter_usable, ("files safe",)),
    Rule("size", check_rules.size_accepted, ("weights format",)),
    Rule("weights intact", check_rules.weights_intact, ("size", "config readable")),
    Rule("config fits", check_rules.config_fits, ("weights intact", "architecture known")),
    Rule("number format", check_rules.number_format_chosen, ("weights intact",)),
    Rule("memory", check_rules.fits_into_memory, ("number format",)),
    Rule("not measured already", check_rules.not_measured_already, ("version pinned", "number format")),
)
RULES_WITHOUT_ADAPTER = tuple(rule for rule in RULES if rule.name != ADAPTER)
