"""The site a command works on: its data folder and, once asked for, its services."""

import os
from functools import cached_property

from infra import data_folder
from shared.errors import NotFound
from shared.services import Services, open_services
from shared.settings import Settings


class Site:
    """`make` lets a command be the first thing ever done to a data folder."""

    def __init__(self, data: str | None, *, make: bool, caller: str = "manage") -> None:
        self.folder = data_folder.choose(data, os.environ)
        self._make = make
        self._caller = caller

    @cached_property
    def settings(self) -> Settings:
        """Raises NotFound where there is no site yet, Invalid for a bad setting."""
        elsewhere = data_folder.is_elsewhere(os.environ)
        if not self._make and not elsewhere and not (self.folder.path / "secret-key").exists():
            raise NotFound(
                f"There is no site in {self.folder.path}. Start one with infra/up, or name another --data DIR."
            )
        self.folder.make()
        return Settings.from_environment(self.folder.environment(os.environ))

    @cached_property
    def services(self) -> Services:
        return open_services(self.settings, caller=self._caller)
