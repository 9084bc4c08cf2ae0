"""The tables of language models and of the names that they had before."""

import re
from collections.abc import Iterable
from typing import Any

from django.db import models
from django.urls import reverse

from leaderboard.models.families import family_of
from probing.kinds import KINDS
from probing.revisions import position

LARGEST_NUMBER = 2**63 - 1  # of a column of whole numbers
# As quantisations of GGUF files are named, such as Q4_1, IQ2_XS or MXFP4, and as the other methods state their bits.
BITS = re.compile(r"\b(?:I?Q|TQ|\w*FP)(\d)|(\d+) bits")


def stated_bits(weights: str) -> int | None:
    """Return how many bits each weight has, as a description of quantised weights states it; None without any."""
    match = BITS.search(weights)
    return int(match[1] or match[2]) if match else None


def weights_in_words(quantised: str, adapter_commit: str, weights_file: str, source: str) -> str:
    """Return `Model.weights_in_words` for these fields of a model."""
    bits = stated_bits(quantised)
    if bits and "bits" not in quantised:
        quantised += f", {bits} bits"
    if adapter_commit:
        return ", ".join(filter(None, ["with a LoRA adapter", quantised]))
    if not weights_file:
        return quantised
    origin = "local file" if source == Model.Source.LOCAL else ""
    return ", ".join(filter(None, [quantised, "GGUF", origin]))


class Model(models.Model):
    """A language model at one commit. With a LoRA adapter merged into it, it is a model of its own, `model+adapter`.

    A local model has the SHA-256 of its files in place of a commit. Models that are known only from published figures
    have none and the source "published". Networks that were measured elsewhere in memory have neither commit nor files;
    their revisions tell them apart.
    """

    class Source(models.TextChoices):
        HUB = "hub", "Hugging Face Hub"
        LOCAL = "local", "local folder"
        PUBLISHED = "published", "published figures only"

    hub_id = models.CharField(max_length=200, db_index=True, help_text="org/name, as the hub spells it")
    printed_name = models.CharField(max_length=200, blank=True, help_text="as named in the paper; empty for hub models")
    commit = models.CharField(max_length=64, blank=True)
    revision = models.CharField(
        max_length=200, blank=True, help_text="branch, tag or step that the commit was named by"
    )
    step = models.BigIntegerField(null=True, blank=True, help_text="step of the training, as the revision states it")
    tokens = models.BigIntegerField(
        null=True, blank=True, help_text="tokens read until then, as the revision states it"
    )
    adapter_commit = models.CharField(max_length=64, blank=True, help_text="of the LoRA adapter; empty without one")
    kind = models.CharField(max_length=20, blank=True, choices=[(kind, kind) for kind in KINDS])
    parameters = models.BigIntegerField(null=True, blank=True)
    idle_parameters = models.BigIntegerField(
        null=True, blank=True, help_text="of experts that are not chosen for a token; empty where that is not known"
    )
    hub_created = models.DateField(null=True, blank=True, help_text="the day on which the hub got its repository")
    weight_bytes = models.BigIntegerField(null=True, blank=True, help_text="size of the files of weights")
    stored_dtype = models.CharField(max_length=20, blank=True, help_text="number format of most of the stored weights")
    weights_file = models.CharField(
        max_length=200, blank=True, help_text="name of the GGUF file, if the weights are one"
    )
    quantisation = models.CharField(
        max_length=20, blank=True, help_text="how the weights are quantised, such as Q4_1 or “bitsandbytes, 4 bits”"
    )
    architecture = models.CharField(max_length=100, blank=True)
    family = models.CharField(max_length=30, blank=True, help_text="such as GPT-2; empty where no rule names one")
    licence = models.CharField(max_length=100, blank=True)
    base_model = models.CharField(
        max_length=200, blank=True, help_text="id of the one model that its card says it was made from"
    )
    gated = models.BooleanField(default=False)
    source = models.CharField(max_length=10, choices=Source.choices, default=Source.HUB)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hub_id", "commit", "adapter_commit", "source"],
                condition=~models.Q(commit=""),
                name="one_model_per_commit",
            ),
            models.UniqueConstraint(
                fields=["hub_id", "revision", "source"], condition=models.Q(commit=""), name="one_model_per_revision"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hub_id}@{self.commit[:7]}" if self.commit else self.hub_id

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **options: Any) -> None:
        """Store the row with its family, and the groups of its runs, which may follow from its size."""
        is_new, self.family = self._state.adding, family_of(self.hub_id)
        fields = None if update_fields is None else {*update_fields, "family"}
        super().save(*args, update_fields=fields, **options)
        if not is_new:
            self.runs.regroup()

    def get_absolute_url(self) -> str:
        org, name = self.hub_id.split("/", 1)
        return reverse("model", args=[org, name])

    @property
    def active_parameters(self) -> int | None:
        """The number of parameters that compute with each token; None where that is not known."""
        if self.parameters is None or self.idle_parameters is None:
            return None
        return self.parameters - self.idle_parameters

    @property
    def weights_in_words(self) -> str:
        """The difference of these weights from those that the hub has under the same id; empty for the latter."""
        return weights_in_words(self.quantisation, self.adapter_commit, self.weights_file, self.source)

    @property
    def part_in_words(self) -> str:
        """The part that is measured of a model that also sees or hears, as its architecture says; else empty."""
        return self.architecture.partition(" (")[2].removesuffix(")")

    @property
    def commit_kind(self) -> str:
        """What the commit is: one of a repository, or the hash of a local model's files."""
        return "content hash" if self.source == Model.Source.LOCAL else "commit"

    @property
    def version_in_words(self) -> str:
        """The revision and the commit, or the hash of a local model's files, in short; may be empty."""
        commit = f"{self.commit_kind} {self.commit[:7]}" if self.commit else ""
        adapter = f"of the adapter {self.adapter_commit[:7]}" if self.adapter_commit else ""
        return ", ".join(filter(None, [self.revision, commit, adapter]))

    def name_revision(self, name: str) -> bool:
        """Note a name of this commit and the step that it states; return True if that changed anything.

        A name that was noted before is kept, unless only the new one states a step. The commit itself is no name.
        """
        stated = position(name)
        if not name or self.commit.startswith(name) or (self.revision and (self.step is not None or stated is None)):
            return False
        self.revision = name[:200]
        self.step, self.tokens = (
            None if number is None or number > LARGEST_NUMBER else number for number in stated or (None, None)
        )
        return True

    @property
    def step_in_words(self) -> str:
        """The step of the training, such as "step 143,000"; empty where none is stated."""
        return "" if self.step is None else f"step {self.step:,}"

    @property
    def training_url(self) -> str:
        """The address of the page with its steps, where it was measured at several."""
        return reverse("training", args=self.hub_id.split("/", 1))

    @property
    def base_id(self) -> str:
        """The id of the model that its adapter changes; its own id without one."""
        return self.hub_id.partition("+")[0]

    @property
    def adapter_id(self) -> str:
        """The id of its adapter; empty without one."""
        return self.hub_id.partition("+")[2]

    @property
    def adapter_identity(self) -> str:
        """The id of its adapter with the commit, as a record has it; empty without one."""
        return f"{self.adapter_id}@{self.adapter_commit}" if self.adapter_commit else ""

    @property
    def pinned_name(self) -> str:
        """Its id as a command names it, with the commit of its adapter."""
        return f"{self.hub_id}@{self.adapter_commit}" if self.adapter_commit else self.hub_id

    @property
    def title(self) -> str:
        """Its id, or the name that its paper prints where no model of the hub is known to be meant."""
        return self.printed_name or self.hub_id


class FormerName(models.Model):
    """A name under which a model had its page before its id on the hub was known."""

    name = models.CharField(max_length=200, unique=True)
    hub_id = models.CharField(max_length=200, help_text="the id of the model's page now")
