"""What rows of models say of their weights, versions and revisions, and the metric of a benchmark."""

import pytest

from leaderboard.models import Benchmark, Model

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("probe", "metric"), [("multiple_choice", "accuracy"), ("ranking", "p_at_1")])
def test_the_main_metric_of_a_benchmark_is_that_of_its_probe(probe: str, metric: str) -> None:
    assert Benchmark(probe=probe).main_metric == metric


def quantised(**fields: str) -> Model:
    facts = {"weights_file": "name.Q4_1.gguf", "quantisation": "Q4_1", "source": Model.Source.LOCAL, **fields}
    return Model(hub_id="org/name", commit="c0ffee" * 4, **facts)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (quantised(), "Q4_1, 4 bits, GGUF, local file"),
        (quantised(quantisation=""), "GGUF, local file"),
        (quantised(quantisation="IQ2_XS"), "IQ2_XS, 2 bits, GGUF, local file"),
        (quantised(quantisation="F16"), "F16, GGUF, local file"),
        (quantised(source=Model.Source.PUBLISHED), "Q4_1, 4 bits, GGUF"),
        (quantised(quantisation="bitsandbytes, 4 bits", weights_file=""), "bitsandbytes, 4 bits"),
        (Model(hub_id="org/name", commit="c0ffee"), ""),
        (Model(hub_id="org/local", source=Model.Source.LOCAL), ""),
    ],
)
def test_weights_that_are_not_those_of_the_hub_are_named(model: Model, words: str) -> None:
    assert model.weights_in_words == words


def test_the_hash_of_a_local_file_is_not_called_a_commit() -> None:
    assert quantised().version_in_words == "content hash c0ffeec"
    assert Model(hub_id="org/name", commit="c0ffee" * 4).version_in_words == "commit c0ffeec"
    assert Model(hub_id="org/name").version_in_words == ""


@pytest.mark.parametrize(
    ("earlier", "name", "expected"),
    [
        ("", "step1000-tokens2B", ("step1000-tokens2B", 1000, 2_000_000_000)),
        ("", "release", ("release", None, None)),
        ("release", "step1000", ("step1000", 1000, None)),
        ("step1000", "step2000", ("step1000", 1000, None)),
        ("step1000", "release", ("step1000", 1000, None)),
        ("release", "other", ("release", None, None)),
        ("", "1234567", ("", None, None)),
    ],
)
def test_a_commit_keeps_the_first_of_its_names_that_states_a_step(
    earlier: str, name: str, expected: tuple[str, int | None, int | None]
) -> None:
    model = Model(hub_id="org/name", commit="1234567" + "a" * 33)
    model.name_revision(earlier)
    assert model.name_revision(name) == (expected[0] == name)
    assert (model.revision, model.step, model.tokens) == expected


def test_a_step_that_no_column_holds_is_left_out() -> None:
    model = Model(hub_id="org/name", commit="c0ffee")
    assert model.name_revision("step10-tokens999999999999999T")
    assert (model.step, model.tokens) == (10, None)
    model.save()


def test_the_name_of_a_revision_comes_before_its_commit() -> None:
    model = Model(hub_id="org/name", commit="c0ffee00", revision="step1000")
    assert model.version_in_words == "step1000, commit c0ffee0"
    assert Model(hub_id="org/name", commit="c0ffee00", source="local").version_in_words == "content hash c0ffee0"


def test_the_family_of_a_model_is_stored_with_it() -> None:
    model = Model.objects.create(hub_id="openai-community/gpt2", commit="c0ffee")
    assert Model.objects.get(family="GPT-2") == model
    model.hub_id = "org/unknown"
    model.save(update_fields=["hub_id"])
    assert not Model.objects.filter(family="GPT-2").exists()
