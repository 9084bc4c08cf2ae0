"""The database under a site: how to look into it, lock it and restart it."""

import sqlite3
import subprocess
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Protocol

import psutil
import psycopg

Row = tuple[Any, ...]


class Database(Protocol):
    """`url` is what `DATABASE_URL` says; `server` says whether there is one to restart."""

    url: str
    server: bool

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return rows without waiting for anybody's lock; `?` stands for a value."""

    def lock(self, seconds: float) -> None:
        """Let nobody write for so long."""

    def restart(self) -> None:
        """Restart the server without a farewell to anybody, as after a crash."""


class SQLite:
    """A file."""

    server = False

    def __init__(self, path: Path) -> None:
        self.path, self.url = path, f"sqlite:///{path}"

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        while True:
            try:
                with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=1)) as connection:
                    return connection.execute(sql, values).fetchall()
            except sqlite3.OperationalError:
                time.sleep(0.2)

    def lock(self, seconds: float) -> None:
        with closing(sqlite3.connect(self.path, timeout=60, isolation_level=None)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            time.sleep(seconds)
            connection.execute("ROLLBACK")

    def restart(self) -> None:
        raise NotImplementedError("A file has no server.")


class PostgreSQL:
    """An empty database on a server of this machine whose superuser the address names."""

    server = True

    def __init__(self, url: str) -> None:
        self.url = url

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        while True:
            with suppress(psycopg.OperationalError), psycopg.connect(self.url, autocommit=True) as connection:
                return connection.execute(sql.replace("?", "%s").encode(), values).fetchall()
            time.sleep(0.2)

    def lock(self, seconds: float) -> None:
        with psycopg.connect(self.url) as connection:
            tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
            names = ", ".join(f'"{name}"' for (name,) in tables)
            connection.execute(f"LOCK TABLE {names} IN EXCLUSIVE MODE".encode())
            time.sleep(seconds)
            connection.rollback()

    def restart(self) -> None:
        folder = self.query("SHOW data_directory")[0][0]
        server = psutil.Process(int(Path(folder, "postmaster.pid").read_text().splitlines()[0]))
        restart = [Path(server.exe()).with_name("pg_ctl"), "restart", "--mode=immediate", "--silent", "-D", folder]
        log = f"--log={folder}/server.log"
        subprocess.run(["runuser", "-u", server.username(), "--", *restart, log], cwd="/", check=True)
