"""Signing up, in and out: Flask-Security over our own people."""

from datetime import timedelta
from typing import Any, cast

import msgspec
from flask import Flask, Response, current_app, request
from flask.sessions import SecureCookieSessionInterface, SessionMixin
from flask_babel import lazy_gettext as _l
from flask_security import Security, UserDatastore, UserMixin
from flask_security.forms import LoginForm, RegisterFormV2
from wtforms import StringField
from wtforms.validators import DataRequired, Length, ValidationError

from shared.errors import Conflict, Invalid, NotFound
from shared.people import (
    HASH_LANES,
    HASH_MEMORY,
    HASH_ROUNDS,
    MAX_PASSWORD,
    MIN_PASSWORD,
    PASSWORD_FORM,
    Person,
    check_name,
)
from shared.services import Services
from web.patience import Patience
from web.site import services

_PATIENCE = "matinee.patience"
_NEVER = timedelta(seconds=-1)
_HASHING = {"argon2__rounds": HASH_ROUNDS, "argon2__memory_cost": HASH_MEMORY, "argon2__parallelism": HASH_LANES}
_YEAR = 365 * 86400


class _Sessions(SecureCookieSessionInterface):
    """What every cache may keep neither depends on a session nor carries one."""

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        if not response.cache_control.public:
            super().save_session(app, session, response)


class Account(UserMixin):  # type: ignore[misc]
    """A person as Flask-Security wants one: a record it may assign to, put back by the datastore."""

    id: str | None = None
    name: str = ""
    email: str | None = None
    password: str = ""
    active: bool = True
    fs_uniquifier: str = ""
    person: Person | None = None

    def __init__(self, **fields: Any) -> None:
        self.roles: list[Any] = []
        for field, value in fields.items():
            setattr(self, field, value)

    @classmethod
    def of(cls, person: Person) -> "Account":
        return cls(
            id=person.id, name=person.name, email=person.email, password=person.password, active=person.active,
            fs_uniquifier=person.session_key, person=person,
        )


class Accounts(UserDatastore):  # type: ignore[misc]
    """Flask-Security's view of shared.people."""

    def __init__(self, matinee: Services) -> None:
        super().__init__(Account, None)
        self._people = matinee.people

    def find_user(self, case_insensitive: bool = False, **what: Any) -> Account | None:  # noqa: ARG002 - names and addresses never mind case
        [(attribute, value)] = what.items()
        look = {
            "id": self._people.get,
            "fs_uniquifier": self._people.by_session_key,
            "email": self._people.by_email,
            "name": self._people.by_name,
        }.get(attribute)
        try:
            return Account.of(look(str(value))) if look and value else None
        except (NotFound, Invalid):
            return None

    def find_role(self, role: str) -> None:  # noqa: ARG002 - a person has one role of ours, none of Flask-Security's
        return None

    def put(self, account: Account) -> Account:
        if account.id is None:
            person = self._people.create(account.name, account.password, email=account.email)
        else:
            person = self._people.change(account.id, lambda now: _changed(now, account))
        account.__dict__.update(Account.of(person).__dict__)
        return account

    def delete(self, account: Account) -> None:
        """An account is closed, not removed: its videos name it."""
        account.active = False
        self.put(account)

    def commit(self) -> None:
        """Every put is durable by itself."""


class SignIn(LoginForm):  # type: ignore[misc]
    """By name or e-mail address; after a few wrong passwords one has to wait."""

    email = StringField(_l("Name or e-mail"), validators=[DataRequired(_l("Say who you are."))],
                        render_kw={"autocomplete": "username"})

    def validate(self, **more: Any) -> bool:
        patience = cast(Patience, current_app.extensions[_PATIENCE])
        self.ifield = self.email
        self.user = _find(self.email.data or "")
        # By the account where there is one: it is found under many spellings of its name, and by its address too.
        whose = (self.user.id if self.user else self.email.data or "", request.remote_addr or "")
        patience.check(*whose)
        can_be = len(self.password.data or "") <= MAX_PASSWORD
        fits = can_be and bool(super().validate(**more))
        patience.note(*whose, fits=fits)
        if not fits and self.password.data and self.email.data:
            # One sentence for both, so that nobody can try which names exist.
            self.email.errors = []
            self.password.errors = [_l("The name or the password is not right.")]
        return fits


class SignUp(RegisterFormV2):  # type: ignore[misc]
    name = StringField(_l("Name"), validators=[DataRequired(), Length(3, 40)],
                       render_kw={"autocomplete": "username"})

    def validate_password(self, field: StringField) -> None:
        if len(field.data or "") > MAX_PASSWORD:
            raise ValidationError(_l("A password has at most %(most)s characters.", most=MAX_PASSWORD))

    def validate_name(self, field: StringField) -> None:
        try:
            check_name(field.data)
            services().people.by_name(field.data)
        except Invalid as error:
            raise ValidationError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
        except NotFound:
            return
        raise ValidationError(_l("This name is taken."))


def install(app: Flask, matinee: Services) -> None:
    app.config.update(
        SECURITY_PASSWORD_HASH="argon2",
        SECURITY_PASSWORD_HASH_PASSLIB_OPTIONS=_HASHING,
        SECURITY_PASSWORD_NORMALIZE_FORM=PASSWORD_FORM,
        SECURITY_PASSWORD_SINGLE_HASH=True,
        SECURITY_PASSWORD_SALT=matinee.settings.secret_key,
        SECURITY_REGISTERABLE=matinee.settings.sign_up,
        SECURITY_USE_REGISTER_V2=True,
        SECURITY_SEND_REGISTER_EMAIL=False,
        SECURITY_PASSWORD_CONFIRM_REQUIRED=False,
        SECURITY_USER_IDENTITY_ATTRIBUTES=[{"email": {"mapper": lambda text: text, "case_insensitive": True}}],
        SECURITY_EMAIL_VALIDATOR_ARGS={"check_deliverability": False},
        SECURITY_FLASH_MESSAGES=False,
        SECURITY_POST_LOGIN_VIEW="/",
        SECURITY_POST_LOGOUT_VIEW="/",
        SECURITY_POST_REGISTER_VIEW="/",
        SECURITY_UNAUTHORIZED_VIEW=None,
        SECURITY_LOGOUT_METHODS=["POST"],
        SECURITY_CHANGEABLE=False,
        SECURITY_PASSWORD_LENGTH_MIN=MIN_PASSWORD,
        SECURITY_FRESHNESS=_NEVER,
        REMEMBER_COOKIE_SAMESITE="Lax",
        REMEMBER_COOKIE_HTTPONLY=True,
        REMEMBER_COOKIE_SECURE=matinee.settings.secure_cookies,
        REMEMBER_COOKIE_DURATION=_YEAR,
    )
    app.extensions[_PATIENCE] = Patience(matinee.clock)
    app.session_interface = _Sessions()
    security = Security(app, Accounts(matinee), login_form=SignIn, register_form=SignUp)
    # It would look up who asks before every request, a segment's too; ours do so where it matters.
    security.principal.identity_loaders.clear()
    # Programs send personal tokens of ours, in a header; a sign-in by address line would end up in logs and links.
    app.login_manager.request_loader(lambda _: None)  # type: ignore[attr-defined]


def _find(text: str) -> Account | None:
    people = services().people
    try:
        return Account.of(people.by_email(text) if "@" in text else people.by_name(text))
    except (NotFound, Invalid, Conflict):
        return None


def _changed(person: Person, account: Account) -> Person:
    return msgspec.structs.replace(
        person, password=account.password, active=account.active, session_key=account.fs_uniquifier
    )
