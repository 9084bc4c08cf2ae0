"""The tables of language models and of the names that they had before."""

from django.db import models
from django.urls import reverse

from probing.kinds import KINDS


class Model(models.Model):
    """A language model at one commit.

    A local model has the SHA-256 of its files in place of a commit. Models that are known only from published figures
    have none and the source "published".
    """

    class Source(models.TextChoices):
        HUB = "hub", "Hugging Face Hub"
        LOCAL = "local", "local folder"
        PUBLISHED = "published", "published figures only"

    hub_id = models.CharField(max_length=200, db_index=True, help_text="org/name, as the hub spells it")
    printed_name = models.CharField(max_length=200, blank=True, help_text="as named in the paper; empty for hub models")
    commit = models.CharField(max_length=64, blank=True)
    kind = models.CharField(max_length=20, blank=True, choices=[(kind, kind) for kind in KINDS])
    parameters = models.BigIntegerField(null=True, blank=True)
    weight_bytes = models.BigIntegerField(null=True, blank=True, help_text="size of the files of weights")
    stored_dtype = models.CharField(max_length=20, blank=True, help_text="number format of most of the stored weights")
    weights_file = models.CharField(
        max_length=200, blank=True, help_text="name of the GGUF file, if the weights are one"
    )
    quantisation = models.CharField(max_length=20, blank=True, help_text="that the GGUF file states, such as Q4_1")
    architecture = models.CharField(max_length=100, blank=True)
    licence = models.CharField(max_length=100, blank=True)
    gated = models.BooleanField(default=False)
    source = models.CharField(max_length=10, choices=Source.choices, default=Source.HUB)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["hub_id", "commit", "source"], name="one_model_per_commit")]

    def __str__(self) -> str:
        return f"{self.hub_id}@{self.commit[:7]}" if self.commit else self.hub_id

    def get_absolute_url(self) -> str:
        org, name = self.hub_id.split("/", 1)
        return reverse("model", args=[org, name])

    @property
    def weights_in_words(self) -> str:
        """What sets these weights apart from those that the hub has under the same id; empty for those."""
        place = "local file" if self.source == Model.Source.LOCAL else ""
        return ", ".join(filter(None, [self.quantisation, "GGUF", place])) if self.weights_file else ""

    @property
    def version_in_words(self) -> str:
        """The commit, or the hash of a local model's files, in short; empty where neither is stored."""
        kind = "content hash" if self.source == Model.Source.LOCAL else "commit"
        return f"{kind} {self.commit[:7]}" if self.commit else ""

    @property
    def title(self) -> str:
        """Its id, or the name that its paper prints where no model of the hub is known to be meant."""
        return self.printed_name or self.hub_id


class FormerName(models.Model):
    """A name under which a model had its page before its id on the hub was known."""

    name = models.CharField(max_length=200, unique=True)
    hub_id = models.CharField(max_length=200, help_text="the id of the model's page now")

    def __str__(self) -> str:
        return f"{self.name}, now {self.hub_id}"
