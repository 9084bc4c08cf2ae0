"""/submit/ : what the form offers and accepts, and that a submission leads to its page or says what is wrong."""

import re
from typing import Any, get_args
from urllib.parse import urlencode

import pytest
from django import forms
from django.http import QueryDict
from django.test import Client
from pytest_django.fixtures import Settings

from leaderboard.intake import check_job
from leaderboard.models import Benchmark, Run, RunPart, Submission
from leaderboard.pages.submit_page import SubmitForm, option_fields, problem_of
from probing.language_model import PLL
from probing.probes import PROBES
from probing.probes.cloze import INSTRUCTIONS
from probing.probes.probe import offered_options
from tests.hub.local_hub import Hub
from tests.leaderboard import factories as make

GOOD = {"model": "org/model", "benchmark": "small"}


def run_of(model_id: str) -> Run:
    """Check what was submitted, and return the run that it led to."""
    check_job.check(Submission.objects.get(model_id=model_id).pk)
    return Run.objects.get(model__hub_id=model_id)


def test_a_submission_leads_to_its_page(client: Client, small: Benchmark) -> None:
    response = client.post("/submit/", GOOD)
    submission = Submission.objects.get()
    assert response.headers["Location"] == f"/submissions/{submission.token}/"
    assert (submission.model_id, submission.submitter) == ("org/model", "127.0.0.1")


@pytest.mark.parametrize("wrong", [{"model": ""}, {"benchmark": "nonsense"}])
def test_bad_input_is_said_at_the_form(client: Client, small: Benchmark, wrong: dict[str, str]) -> None:
    response = client.post("/submit/", GOOD | wrong)
    assert response.status_code == 422
    assert "errorlist" in response.content.decode()


def test_a_hostile_id_is_escaped(client: Client, small: Benchmark) -> None:
    response = client.post("/submit/", GOOD | {"model": "<script>alert(1)</script>\u202e"})
    html = response.content.decode()
    assert response.status_code == 422
    assert "<script>alert" not in html
    assert r"\u202e" in html, "the message shows what cannot be seen"
    assert not Submission.objects.exists()


PAIRS = {"model": "org/causal", "benchmark": "pairs"}


def shown(client: Client, **parameters: str) -> dict[str, list[str]]:
    """The choices of each option on the page."""
    form = client.get("/submit/", parameters).context["form"]
    return {field.name: [value for value, _ in getattr(field.field, "choices", [])] for field in form.options()}


def test_the_options_are_those_of_the_benchmarks_probe(client: Client, small: Benchmark, pairs: Benchmark) -> None:
    make.shipped("graph")
    scoring = {"set-pll": list(get_args(PLL)), "set-reduction": ["sum", "mean"]}
    dtype = {"set-dtype": ["", "float32", "bfloat16", "float16", "auto"], "set-start": [], "set-sample": []}
    protocol = {"set-protocol": ["usual", "lm-eval"]}
    prompting = {"set-prompting": ["vanilla", "few-shot", "shared-few-shot", "cascade"], "set-shots": []}
    own = {"set-generic_subjects": [], "set-few_shot": [], "set-chat": ["False", "True"]}
    assert shown(client, benchmark="small") == {
        **own,
        **scoring,
        "set-templates": [0, 1, 2],
        **protocol,
        **dtype,
    }
    assert shown(client, benchmark="pairs") == {**scoring, **prompting, **dtype}
    assert shown(client, benchmark="graph") == {
        "set-by": ["token", "word"],
        "set-public_code": ["False", "True"],
        **dtype,
    }
    first, *_ = client.get("/submit/").context["form"].offered
    assert shown(client) == shown(client, benchmark=first) == shown(client, benchmark="nonsense")


def test_the_page_says_how_the_number_format_is_chosen_and_what_pll_concerns(client: Client, small: Benchmark) -> None:
    html = client.get("/submit/?benchmark=small").content.decode()
    assert "Chosen by the model&#x27;s size: up to 1 billion parameters float32" in html
    assert "Which tokens a masked model hides together; refused for other models." in html
    assert '<input type="checkbox" name="set-templates" value="0" id="id_set-templates_0" checked>' in html
    assert "Settings of the run" in html


def test_settings_that_are_chosen_on_the_form_are_measured(client: Client, small: Benchmark, local_hub: Hub) -> None:
    chosen = {"set-templates": ["0", "2"], "set-pll": "original", "set-reduction": "mean", "set-dtype": "bfloat16"}
    client.post("/submit/", {"model": "org/masked", "benchmark": "small", **chosen})
    run = run_of("org/masked")
    assert {name: run.settings[name] for name in ("templates", "pll", "reduction", "dtype")} == {
        "templates": [0, 2],
        "pll": "original",
        "reduction": "mean",
        "dtype": "bfloat16",
    }
    assert run.variant == "wordings 1 and 3, PLL original, reduction mean, bfloat16"


def test_what_is_usual_is_chosen_beforehand(client: Client, pairs: Benchmark) -> None:
    Benchmark.objects.filter(pk=pairs.pk).update(settings={"options": {"prompting": "cascade"}})
    assert '<option value="cascade" selected>' in client.get("/submit/?benchmark=pairs").content.decode()
    html = client.get("/submit/?benchmark=pairs&set-prompting=few-shot").content.decode()
    assert '<option value="few-shot" selected>' in html, "a link can choose"


def test_a_number_field_holds_the_benchmarks_usual_value_and_a_help_text(client: Client, pairs: Benchmark) -> None:
    Benchmark.objects.filter(pk=pairs.pk).update(settings={"options": {"shots": 4}})
    html = client.get("/submit/?benchmark=pairs").content.decode()
    assert '<input type="number" name="set-shots" value="4"' in html
    assert 'aria-describedby="id_set-shots_helptext"' in html
    assert 'id="id_set-shots_helptext">How many demonstrations stand before each' in html


@pytest.mark.parametrize(
    ("sent", "field", "words"),
    [
        ({"set-shots": "many"}, "set-shots", "Give a whole number."),
        ({"set-shots": "0"}, "set-shots", "0 demonstrations show nothing. Give 1 or more"),
    ],
)
def test_a_bad_value_is_an_error_of_its_field(
    client: Client, pairs: Benchmark, local_hub: Hub, sent: dict[str, str], field: str, words: str
) -> None:
    answer = client.post("/submit/", PAIRS | sent)
    assert answer.status_code == 422
    errors = answer.context["form"].errors
    assert list(errors) == [field]
    assert words in errors[field][0]
    assert not Submission.objects.exists()


def test_without_javascript_a_button_shows_the_options(client: Client, small: Benchmark, pairs: Benchmark) -> None:
    answer = client.post("/submit/", PAIRS | {"look": ""})
    html = answer.content.decode()
    assert answer.status_code == 200
    assert 'name="set-prompting"' in html
    assert 'value="org/causal"' in html, "what was written stays"
    assert not Submission.objects.exists()


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ({}, {}),
        ({"set-prompting": "vanilla", "set-shots": "10"}, {}),
        ({"set-prompting": "", "set-shots": ""}, {}),
        ({"set-prompting": "few-shot", "set-shots": "3"}, {"prompting": "few-shot", "shots": 3}),
    ],
)
def test_the_chosen_option_is_measured(
    client: Client, pairs: Benchmark, local_hub: Hub, sent: dict[str, str], stored: dict[str, Any]
) -> None:
    client.post("/submit/", PAIRS | sent)
    assert run_of("org/causal").settings["options"] == stored


def test_an_option_of_another_probe_is_passed_over(client: Client, small: Benchmark, local_hub: Hub) -> None:
    client.post("/submit/", {"model": "org/causal", "benchmark": "small", "set-prompting": "few-shot"})
    assert run_of("org/causal").settings["options"] == {}


def test_options_that_exclude_each_other_are_said_at_the_form(client: Client, db: None, local_hub: Hub) -> None:
    make.shipped("graph")
    both = {"model": "org/causal", "benchmark": "graph", "set-by": "word", "set-public_code": "True"}
    answer = client.post("/submit/", both)
    assert answer.status_code == 422
    assert "The public code divides by tokens." in answer.content.decode()


def test_a_limit_is_said_at_the_form(client: Client, small: Benchmark, settings: Settings) -> None:
    settings.QUEUE_LIMIT = 1
    client.post("/submit/", GOOD)
    response = client.post("/submit/", GOOD | {"model": "org/other"})
    assert (response.status_code, response["Retry-After"]) == (503, "600")
    words = "The queue is full: 1 submissions and runs are open."
    assert words in response.context["form"].non_field_errors()[0]


def test_the_address_of_a_model_at_the_hub_is_accepted(client: Client, small: Benchmark) -> None:
    client.post("/submit/", GOOD | {"model": " https://huggingface.co/org/model/tree/v1.0?show_file_info=a "})
    submission = Submission.objects.get()
    assert (submission.model_id, submission.revision) == ("org/model", "v1.0")


def test_an_id_without_its_organisation_offers_the_full_ids_as_links(client: Client, small: Benchmark) -> None:
    make.published(small, of=make.model("openai-community/gpt2"))
    response = client.post("/submit/", GOOD | {"model": "gpt2"})
    assert response.status_code == 422
    assert 'href="?model=openai-community/gpt2&amp;benchmark=small"' in response.content.decode()
    assert not Submission.objects.exists()


def test_several_benchmarks_are_submitted_at_once_or_none_is(
    client: Client, small: Benchmark, pairs: Benchmark, settings: Settings
) -> None:
    both = {"model": "org/model", "benchmark": ["small", "pairs"], "set-sample": "2"}
    settings.OPEN_RUNS_PER_SUBMITTER = 1
    assert client.post("/submit/", both).status_code == 422, "they never fit, so that waiting would not help"
    assert not Submission.objects.exists()
    settings.OPEN_RUNS_PER_SUBMITTER = 2
    response = client.post("/submit/", both)
    first, second = Submission.objects.order_by("pk")
    assert response.headers["Location"] == f"/submissions/{first.token}/"
    assert first.group == second.group != ""
    assert {first.benchmark.slug, second.benchmark.slug} == {"small", "pairs"}
    assert first.options["sample"] == 2


def test_several_benchmarks_offer_the_options_that_they_share(
    client: Client, small: Benchmark, pairs: Benchmark
) -> None:
    form = client.get("/submit/?benchmark=small&benchmark=pairs").context["form"]
    names = {field.name for field in form.options()}
    assert {"set-sample", "set-pll", "set-dtype"} <= names
    assert names.isdisjoint({"set-prompting", "set-chat"})


def test_a_sample_has_at_least_one_item(client: Client, small: Benchmark) -> None:
    for sample in ("0", "-1"):
        response = client.post("/submit/", GOOD | {"set-sample": sample})
        assert list(response.context["form"].errors) == ["set-sample"]


def previewed(client: Client, **more: str) -> str:
    """Return the page that says what a submission would lead to."""
    return " ".join(client.post("/submit/", GOOD | {"preview": "yes", **more}).content.decode().split())


@pytest.mark.usefixtures("living_worker")
def test_the_preview_says_cost_and_waiting_time_and_submits_nothing(client: Client, small: Benchmark) -> None:
    done = make.finished(small, of=make.model("org/model"))
    RunPart.objects.create(run=done, relation="P30", template=0, items=10, work=100, done=True)
    waits = make.run(make.model(), small)
    RunPart.objects.create(run=waits, relation="P30", template=0, items=10, work=100)
    Benchmark.objects.filter(pk=small.pk).update(work=300)
    html = previewed(client)
    assert "30 min of measuring, result in 40 min" in html
    assert "<title>Preview · Submit a model" in html
    assert not Submission.objects.exists()


def test_the_preview_has_no_time_for_an_unknown_size_or_without_a_worker(client: Client, small: Benchmark) -> None:
    done = make.finished(small)
    RunPart.objects.create(run=done, relation="P30", template=0, items=10, work=100, done=True)
    html = previewed(client)
    assert "depends on the model's size, which is not known before the check" in html
    make.model("org/model")
    html = previewed(client)
    assert "of measuring" in html
    assert "result in" not in html
    assert "No worker has reported lately" in html


def test_the_search_field_of_a_page_with_a_form_holds_nothing_of_it(client: Client, small: Benchmark) -> None:
    page = client.get("/submit/").content.decode()
    assert page.count('name="benchmark"') == 1
    (field,) = re.findall(r'<input type="search"[^>]*>', page)
    assert "form=" not in field


def test_several_revisions_become_submissions_of_their_own_or_none_does(
    client: Client, small: Benchmark, settings: Settings
) -> None:
    series = GOOD | {"revisions": "step1000, step2000\r\nmain\nstep1000"}
    settings.OPEN_RUNS_PER_SUBMITTER = 2
    refused = client.post("/submit/", series)
    assert refused.status_code == 422
    assert "These are 3 runs; this site takes 2 of one person open at a time." in refused.content.decode()
    assert not Submission.objects.exists()
    settings.OPEN_RUNS_PER_SUBMITTER, settings.CHECKS_PER_MINUTE = 3, 2
    assert client.post("/submit/", series).status_code == 302
    assert list(Submission.objects.order_by("pk").values_list("revision", flat=True)) == ["step1000", "step2000", ""]
    assert len({submission.group for submission in Submission.objects.all()} - {""}) == 1
    assert client.post("/submit/", GOOD | {"model": "org/other"}).status_code == 429, "all of them count"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"revisions": "step1 step2 step3"}, "These are 3 revisions; one submission takes 2."),
        ({"revisions": "step1,../x"}, "&#x27;../x&#x27; is not a revision."),
        ({"revisions": "step1", "model": "https://huggingface.co/org/a/tree/v1"}, "names the revision"),
    ],
)
def test_revisions_that_cannot_be_taken_are_refused_at_their_field(
    client: Client, small: Benchmark, settings: Settings, fields: dict[str, str], words: str
) -> None:
    settings.REVISIONS_LIMIT = 2
    response = client.post("/submit/", GOOD | fields)
    assert (response.status_code, words in response.content.decode()) == (422, True)
    assert list(response.context["form"].errors) == ["revisions"]


def test_a_local_model_has_no_revisions(client: Client, small: Benchmark, settings: Settings) -> None:
    (settings.MODELS / "org" / "model").mkdir(parents=True)
    response = client.post("/submit/", GOOD | {"revisions": "step1"})
    assert "is a local model of this site, which has no revisions" in response.content.decode()


@pytest.mark.usefixtures("living_worker")
def test_the_preview_of_a_series_says_how_many_runs_and_how_long_in_all(client: Client, small: Benchmark) -> None:
    done = make.finished(small, of=make.model("org/model"))
    RunPart.objects.create(run=done, relation="P30", template=0, items=10, work=100, done=True)
    Benchmark.objects.filter(pk=small.pk).update(work=100)
    html = previewed(client, revisions="step1,step2,step3")
    assert "org/model: 3 runs" in html
    assert "Each benchmark is asked at 3 revisions. In all: 30 min of measuring." in html
    assert "30 min of measuring, last result in 30 min" in html
    assert "step1,step2,step3</textarea>" in html


def test_a_site_without_benchmarks_offers_no_form(client: Client, db: None) -> None:
    html = client.get("/submit/").content.decode()
    assert "There is no benchmark to measure models on yet." in html
    assert '<form method="post"' not in html


def test_benchmarks_that_are_not_offered_are_named_with_the_reason(client: Client, small: Benchmark) -> None:
    assert "Not offered" not in client.get("/submit/").content.decode()
    make.benchmark("bear")
    html = " ".join(client.get("/submit/").content.decode().split())
    assert 'Not offered: <a href="/benchmarks/bear/">Bear</a>.' in html
    assert "its files are not installed" in html


# What the submit form offers and accepts, and what is chosen in it.


def submitted(benchmark: str, **options: str) -> SubmitForm:
    sent = QueryDict(urlencode({"model": "org/name", "benchmark": benchmark, **options}))
    return SubmitForm(sent, initial=sent)


def test_an_instruction_is_the_same_value_by_form_api_and_command(db: None) -> None:
    benchmark = make.benchmark("geography", probe="cloze", path="geography")
    form = submitted("geography", **{"set-instruction": "0"})
    assert form.is_valid(), form.errors
    parsed = offered_options(PROBES["cloze"])["instruction"].parse("0")  # as the command does
    assert form.chosen() == {"instruction": parsed} == {"instruction": 0}
    assert problem_of(benchmark, {"instruction": 0}) == ""
    assert "Choose from: 0, 1, 2, 3, 4, 5." in problem_of(benchmark, {"instruction": 6})


def test_a_value_that_is_not_offered_is_an_error_of_its_field(small: Benchmark) -> None:
    names = ["set-templates", "set-pll", "set-reduction", "set-dtype"]
    assert sorted(submitted("small", **dict.fromkeys(names, "7")).errors) == sorted(names)


def test_a_start_token_that_does_not_exist_is_an_error_of_its_field_and_an_empty_one_the_usual(
    small: Benchmark,
) -> None:
    form = submitted("small", **{"set-start": "cls"})
    assert list(form.errors) == ["set-start"]
    assert "start token cannot be" in str(form.errors)
    empty = submitted("small", **{"set-start": ""})
    assert empty.is_valid()
    assert small.settings_with(empty.chosen()) == small.settings_with({})


def test_a_benchmark_without_files_cannot_be_chosen(pairs: Benchmark) -> None:
    Benchmark.objects.update(path="")
    assert list(submitted("pairs").errors) == ["benchmark"]


def test_everything_that_is_offered_has_a_field_with_a_label_and_a_help_text(subtests: pytest.Subtests) -> None:
    for probe in PROBES:
        with subtests.test(probe):
            fields = option_fields(Benchmark(probe=probe))
            offered = offered_options(PROBES[probe])
            of_files = {"templates", *(name for name, option in offered.items() if option.tag)}
            assert fields.keys() == offered.keys() - of_files, "without files, there are none of these"
            assert all(field.label and field.help_text for field in fields.values())


def test_the_instructions_of_cloze_are_listed_with_their_texts() -> None:
    field = option_fields(Benchmark(probe="cloze"))["instruction"]
    assert isinstance(field, forms.ChoiceField)
    titles = dict(field.choices)
    assert list(titles) == [str(number) for number in range(len(INSTRUCTIONS))]
    assert titles["0"] == "0: none, the sentence alone"
    assert titles["1"] == "1: Complete the following sentence: [sentence]"
    assert field.initial == "2"


def test_templates_are_offered_where_there_are_several_and_the_usual_ones_are_ticked(
    small: Benchmark, pairs: Benchmark
) -> None:
    field = option_fields(small)["templates"]
    assert isinstance(field, forms.TypedMultipleChoiceField)
    examples = ["X is located in ____.", "____ contains X.", "X belongs to ____."]
    choices = [(number, f"Wording {number + 1}, for example “{text}”") for number, text in enumerate(examples)]
    assert (field.choices, field.initial) == (choices, [0])
    assert "templates" not in option_fields(pairs)
