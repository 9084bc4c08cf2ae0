"""The WSGI application that a web server calls."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
os.environ.setdefault("CLOZEBOARD_DATABASE_SECONDS", "4")  # a page does not wait as long for the database as a worker
application = get_wsgi_application()
