"""/runs/<id>/ : under way, finished, failed."""

import re
import shlex
from dataclasses import asdict

from django.test import Client

from leaderboard.exports.reproduction import command
from leaderboard.figures import item_rows
from leaderboard.figures.ranks import refresh_ranks
from leaderboard.models import Benchmark, Model, Run, RunRank
from leaderboard.ui.spelled import figure_with_uncertainty
from probing.start_token import StartToken, TokenizerFacts
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows


def page(client: Client, run: Run) -> str:
    return client.get(f"/runs/{run.pk}/").content.decode()


def test_a_run_under_way_follows_itself(client: Client, site: Site) -> None:
    html = page(client, site.running)
    assert "50 % of the work · 50 of 100 sentences" in html
    assert "<title>50 % · " in html
    assert 'data-live="5"' in html
    assert f'href="/runs/{site.running.pk}/">refresh' in html, "without JavaScript"


def test_the_head_tells_both_intervals_apart(client: Client, site: Site) -> None:
    score = site.first.scores.get(metric="accuracy", dimension="overall")
    text = " ".join(page(client, site.first).split())
    assert f"{score.low:.3f} to {score.high:.3f} on these relations" in text
    assert f"{score.cluster_low:.3f} to {score.cluster_high:.3f} on other relations like these" in text
    assert "the second how far it could move with other relations of the same kind" in text


def test_a_figure_without_a_clustered_interval_is_not_said_to_have_one(client: Client, site: Site) -> None:
    site.first.scores.update(cluster_low=None, cluster_high=None)
    text = page(client, site.first)
    assert "95 % interval" in text
    assert "relations of the same kind" not in text


def test_both_intervals_are_in_the_csv(client: Client, site: Site) -> None:
    score = site.first.scores.get(metric="accuracy", dimension="overall")
    for table in ("scores", "domain"):
        lines = csv_rows(client, f"/runs/{site.first.pk}/", table)
        assert {"low", "high", "cluster_low", "cluster_high"} <= set(lines[0])
    (line,) = [
        line
        for line in csv_rows(client, f"/runs/{site.first.pk}/", "scores")
        if line["metric"] == "accuracy" and line["group"] == "all"
    ]
    assert (float(line["cluster_low"]), float(line["cluster_high"])) == (score.cluster_low, score.cluster_high)


def test_a_finished_run_does_not(client: Client, site: Site) -> None:
    html = page(client, site.first)
    assert "data-live" not in html


def test_all_scores_are_files(client: Client, site: Site) -> None:
    address = f"/runs/{site.first.pk}/"
    for kind in ("csv", "json"):
        assert f'href="?format={kind}&amp;table=scores"' in client.get(address).content.decode()
    lines = client.get(f"{address}?format=csv&table=scores").getvalue().decode().splitlines()
    assert len(lines) - 1 == len(client.get(f"{address}?format=json&table=scores").json()) == site.first.scores.count()


def test_the_command_line_names_what_is_not_usual(site: Site) -> None:
    site.first.settings = {"templates": [0, 2], "pll": "original", "limit": 5, "options": {"k": 3}}
    commit = site.first.model.commit
    assert shlex.split(command(site.first)) == (
        f"python -m probing run org/first --benchmark path/to/small --commit {commit} --template 0 --template 2 "
        f"--limit 5 --pll original --set k=3 --out run-{site.first.pk}".split()
    )


def test_the_command_of_a_quantised_file_measures_that_file(client: Client, small: Benchmark) -> None:
    facts = {"source": Model.Source.LOCAL, "weights_file": "chat.Q4_1.gguf", "quantisation": "Q4_1"}
    run = make.finished(small, of=make.model("org/chat", **facts))
    words = shlex.split(command(run))
    assert words[4] == "path/to/chat.Q4_1.gguf"
    assert "--commit" not in words
    html = page(client, run)
    assert "Q4_1, 4 bits, GGUF, local file" in html.split("</h1>")[0]
    listed = client.get(f"/benchmarks/{small.slug}/", follow=True).content.decode()
    listed += client.get(f"/?benchmark={small.slug}", follow=True).content.decode()
    assert "Q4_1, 4 bits, GGUF, local file" in listed
    assert "Q4_1, 4 bits, GGUF, local file" in client.get("/models/org/chat/").content.decode()


def test_the_command_of_a_local_folder_does_not_name_the_model_of_the_hub(small: Benchmark) -> None:
    run = make.finished(small, of=make.model("org/chat", source=Model.Source.LOCAL))
    assert shlex.split(command(run))[4] == "path/to/chat"


def test_the_command_line_names_a_known_benchmark(site: Site) -> None:
    site.first.benchmark.slug = "starter"
    assert "--benchmark starter --commit" in command(site.first)


def test_a_run_that_waits_or_was_cancelled_says_why(client: Client, small: Benchmark) -> None:
    run = make.running(make.model(), small)
    Run.objects.move(run, Run.State.WAITING, "There is no space left.")
    assert "Waiting: There is no space left." in client.get(run.get_absolute_url()).content.decode()
    Run.objects.cancel(run, "No longer wanted.")
    for address in (run.get_absolute_url(), "/queue/"):
        assert "No longer wanted." in client.get(address).content.decode()


def test_a_finished_run_offers_a_comparison_and_its_citation(client: Client, site: Site) -> None:
    html = page(client, site.first)
    assert f"/compare/?m={site.first.pk}" in html
    assert 'id="cite"' in html


def test_a_run_of_the_first_items_says_that_they_are_no_fair_sample(client: Client, site: Site) -> None:
    notes = ["At most 5 items of each relation were asked. This is no fair sample."]
    Run.objects.filter(pk=site.first.pk).update(provenance_record={"benchmark_notes": notes})
    assert f'<p class="note">{notes[0]}</p>' in page(client, site.first)


def test_a_run_names_options_that_the_tokenizer_does_not_know(client: Client, site: Site) -> None:
    entry = {"relation": "P36", "kind": "options", "names": 4, "unknown": 1, "examples": ["Łódź"]}
    Run.objects.filter(pk=site.first.pk).update(provenance_record={"unknown_names": [entry]})
    assert "The tokenizer does not know 1 of 4 options (25.00%), such as &#x27;Łódź&#x27;" in page(client, site.first)


def test_a_run_counts_ties_in_a_sentence(client: Client, site: Site) -> None:
    assert site.first.scores.filter(metric="ties").update(value=0.25, n=8) == 1
    html = page(client, site.first)
    assert "Ties: of 2 of 8 items (25.00%) several options share the best score" in html
    assert "<dt>Ties</dt>" not in html


CHAT_START = StartToken("auto", 1, "<|im_start|>", "bos", marks_roles=True)
RECORD = {
    "probe": "multiple_choice",
    "benchmark": {"slug": "bear"},
    "model": {
        **{"id": "org/chat", "kind": "causal", "source": "hub", "commit": "c0ffee"},
        "tokenizer": asdict(TokenizerFacts("BPE", 49_152, False, False, start=CHAT_START)),
    },
}


def test_the_page_says_how_texts_became_tokens_and_how_the_harness_measures_the_same(
    client: Client, small: Benchmark
) -> None:
    run = make.finished(small, 0.5, provenance_record=RECORD, settings={"templates": [0, 1, 2], "protocol": "lm-eval"})
    html = page(client, run)
    assert "Every text starts with &lt;|im_start|&gt; (id 1)" in html
    assert "before the role of each message" in html
    assert "lm_eval --model hf --model_args pretrained=org/chat,revision=c0ffee,dtype=float32 --tasks bear" in html
    assert "Protocol of lm-evaluation-harness: all templates" in html
    assert "protocol lm-eval" in html


def test_a_run_without_these_facts_has_no_such_sections(client: Client, site: Site) -> None:
    assert 'id="tokens"' not in page(client, site.first)
    assert 'id="harness"' not in page(client, site.first)


def test_the_page_begins_with_its_figure_and_all_that_is_needed_to_read_it(client: Client, site: Site) -> None:
    refresh_ranks(site.benchmark)
    scores = {score.metric: score for score in site.first.scores.filter(dimension="overall")}
    by_wording = sorted(
        site.first.scores.filter(dimension="template", metric="accuracy").values_list("value", flat=True)
    )
    main = scores["accuracy"]
    text = " ".join(re.sub(r"<[^>]+>", " ", page(client, site.first).split('class="headline"')[1]).split())
    assert f"{figure_with_uncertainty(main.value, main.low, main.high)} Accuracy: share of 6 questions" in text
    assert f"{by_wording[0]:.3f} to {by_wording[-1]:.3f} over 2 wordings" in text
    assert f"chance {scores['chance'].value:.3f}" in text
    assert f"always the commonest answer {scores['majority_answer'].value:.3f}" in text
    site.first.scores.filter(metric="majority_answer").update(value=scores["chance"].value)
    assert "always the commonest" not in page(client, site.first), "which is as much as chance"


def test_a_ranked_run_names_its_place_and_how_many_are_ranked(client: Client, site: Site) -> None:
    for run, (best, worst) in ((site.first, (1, 2)), (site.second, (1, 2))):
        RunRank.objects.update_or_create(
            run=run, metric="accuracy", defaults={"counted": 6, "best": best, "worst": worst}
        )
    text = " ".join(re.sub(r"<[^>]+>", " ", page(client, site.first)).split())
    assert "rank 1–2 of 2" in text


def test_a_number_of_items_that_a_paper_does_not_state_is_unknown_everywhere(client: Client, small: Benchmark) -> None:
    run = make.finished(small, 0.5)
    run.scores.update(n=0)
    assert "over 0 questions" not in page(client, run)
    assert {row["n"] for row in csv_rows(client, run.get_absolute_url(), "scores")} == {""}
    assert {score["n"] for score in client.get(f"/api/v1/runs/{run.pk}/scores").json()["scores"]} == {None}


def test_surprises_are_wrong_answers_with_the_widest_margins_for_their_wording(client: Client, site: Site) -> None:
    address = f"/runs/{site.first.pk}/"
    rows = item_rows.frame(site.first, ["relation", "template", "margin", "correct"])
    usual = rows.groupby(["relation", "template"])["margin"].transform(lambda margins: margins.abs().median())
    relative = dict(zip(rows["margin"], rows["margin"] / usual, strict=True))
    sure = [relative[float(line["margin"])] for line in csv_rows(client, address, "confident-errors")]
    assert sure == sorted(sure) and all(margin < 0 for margin in sure)
    assert sure[0] == min(relative[margin] for margin in rows.loc[~rows["correct"], "margin"])


def test_a_run_with_one_template_says_nothing_of_wordings(client: Client, small: Benchmark) -> None:
    run = make.measured(small, make.model(), skill=1, templates=(0,))
    assert "over 1 wording" not in page(client, run)
    assert "get another answer" not in client.get(f"/runs/{run.pk}/?by=template").content.decode()


def test_confidence_and_what_it_is_worth_stand_in_a_sentence(client: Client, site: Site) -> None:
    overall = site.first.scores.filter(dimension="overall")
    sure, error = (overall.get(metric=name).value for name in ("max_softmax", "calibration_error"))
    sentence = f"On average it gives {100 * sure:.0f} % to its answer; the calibration error is {error:.3f}."
    assert sentence in page(client, site.first)
    assert "calibration error" not in page(client, make.finished(site.benchmark))


def test_the_caution_about_the_start_token_stands_beside_the_score(client: Client, small: Benchmark) -> None:
    run = make.finished(small, 0.5, provenance_record=RECORD)
    html = page(client, run)
    assert html.count("figures with another start token can differ by points") == 1
    assert html.index("can differ by points") < html.index("Reproduce this run")


def test_the_command_comes_with_its_packages_and_the_page_leads_to_everything_stored(
    client: Client, site: Site
) -> None:
    record = {**site.first.provenance_record, "packages": {"python": "3.11.7", "torch": "2.13.0+cpu"}}
    Run.objects.filter(pk=site.first.pk).update(provenance_record=record)
    html = page(client, site.first)
    assert "# Python 3.11.7: pip install torch==2.13.0" in html.split('id="reproduce"')[1]
    (address,) = re.findall(r'in all details: <a href="([^"]+)"', html)
    assert client.get(address).json()["provenance_record"] == record


def test_a_number_that_runs_have_passed_is_gone_and_one_that_they_never_had_is_unknown(
    client: Client, site: Site
) -> None:
    """Printed figures had pages of runs once."""
    last = max(site.first.pk, site.second.pk, site.running.pk, site.failed.pk)
    Run.objects.filter(pk=site.second.pk).delete()
    assert client.get(f"/runs/{site.second.pk}/").status_code == 410
    assert client.get(f"/runs/{last + 1}/").status_code == 404
