"""The database table of former names of models, from whose addresses pages redirect; `models` has it, too."""

from django.db import models


class FormerName(models.Model):
    """A name under which a model had its page before its id on the hub was known."""

    name = models.CharField(max_length=200, unique=True)
    hub_id = models.CharField(max_length=200, help_text="the id of the model's page now")

    def __str__(self) -> str:
        return f"{self.name}, now {self.hub_id}"
