"""The table of snapshots."""

from django.db import models
from django.urls import reverse


class Snapshot(models.Model):
    """Tables of the site as they were at one moment. A snapshot is added and never changed."""

    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the document, and its address")
    title = models.CharField(max_length=200)
    document = models.BinaryField(help_text="the tables as JSON, compressed by gzip")
    length = models.PositiveBigIntegerField(help_text="of the document before it was compressed, in bytes")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.title} ({self.digest[:12]})"

    def get_absolute_url(self) -> str:
        return reverse("snapshot", args=[self.digest])
